// An agent's question as Markdown: what will happen, before the words that describe it.

import { diff } from "./diff.ts";
import { plain } from "./json.ts";
import { block, inline } from "./markdown.ts";

/** What the bridge puts into a call of the permission tool; each but `title` may be missing. */
export interface Question {
  message?: unknown;
  title?: unknown;
  kind?: unknown;
  note?: unknown;
  rawInput?: unknown;
  diff?: unknown;
  content?: unknown;
  locations?: unknown;
}

export interface ShownQuestion {
  title: string;
  message: string;
}

const KINDS: Record<string, string> = {
  read: "Read",
  edit: "Edit a file",
  delete: "Delete",
  move: "Move",
  search: "Search",
  execute: "Run a command",
  think: "Think",
  fetch: "Fetch from the network",
  switch_mode: "Change the agent's mode",
};

export function showQuestion(question: Question): ShownQuestion {
  const kind = typeof question.kind === "string" ? KINDS[question.kind] : undefined;
  const whole = text(question.message);
  if (whole !== undefined) {
    return { title: `${kind ?? "Allow this"}?`, message: whole };
  }
  const paragraphs = [`**${inline(text(question.title) ?? "Use a tool")}**`];
  const note = text(question.note);
  if (note !== undefined) {
    paragraphs.push(`⚠️ ${inline(note)}`);
  }
  const command = commandOf(question.rawInput);
  if (command !== undefined) {
    paragraphs.push(block(command, "sh"));
  }
  const changes = list(question.diff).flatMap(showChange);
  paragraphs.push(...changes);
  if (command === undefined && changes.length === 0 && hasContent(question.rawInput)) {
    paragraphs.push(block(JSON.stringify(plain(question.rawInput), null, 2), "json"));
  }
  paragraphs.push(
    ...list(question.content)
      .map(text)
      .flatMap((said) => (said === undefined ? [] : [block(said)])),
  );
  const places = list(question.locations).map(text).filter(isText);
  if (places.length > 0) {
    paragraphs.push(`In ${places.map(inline).join(", ")}`);
  }
  return {
    title: kind === undefined ? "The agent asks for permission" : `The agent asks: ${kind}`,
    message: paragraphs.join("\n\n"),
  };
}

/** Return the command line that the agent's tool was given, as agents put it. */
function commandOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) {
    return undefined;
  }
  const { command, cmd } = input as { command?: unknown; cmd?: unknown };
  const found = command ?? cmd;
  if (Array.isArray(found) && found.every((word) => typeof word === "string")) {
    return found.map(quote).join(" ");
  }
  return text(found);
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function showChange(change: unknown): string[] {
  if (typeof change !== "object" || change === null) {
    return [];
  }
  const { path, oldText, newText } = change as Record<string, unknown>;
  const lines = diff(typeof oldText === "string" ? oldText : "", text(newText) ?? "");
  const isNew = typeof oldText !== "string";
  const heading = `${isNew ? "New file" : "Change"}: ${inline(text(path) ?? "a file")}`;
  return [heading, block(lines, "diff")];
}

function hasContent(value: unknown): boolean {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

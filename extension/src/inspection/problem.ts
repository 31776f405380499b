// A report of a problem, as a document that the user reads, changes and sends by themselves: the versions, the
// doctor's findings, the newest decisions and the end of the log. It has no text of a chat.

import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import type { InspectedEvent, InspectedRequest, InspectResult } from "../program/wire.ts";
import type { Report } from "../setup/report.ts";
import { hidden } from "./hidden.ts";

/** The newest decisions that a report has. */
const MOST_DECISIONS = 30;

export interface ProblemSources {
  /** Return names with their versions. */
  versions(): Promise<Record<string, string>>;
  inspect(): Promise<InspectResult>;
  /** Return the ids of the models that can be examined. */
  models(): string[];
  /** Examine an agent; undefined if the user cancelled. */
  examine(id: string): Promise<Report | undefined>;
  /** Return the newest lines of the log. */
  lines(): string[];
  /** Return what must not be in a report. */
  secrets(): Promise<string[]>;
}

/** Gather what there is, and show it. What can't be had is told in its place. */
export async function reportProblem(sources: ProblemSources): Promise<void> {
  const { events } = await sources.inspect().catch((error) => ({ events: messageOf(error) }));
  const requests = Array.isArray(events) ? events.filter(isRequest) : [];
  const asked = requests.at(-1)?.model;
  const text = [
    ...HEAD,
    "## Versions",
    "",
    ...Object.entries(await sources.versions()).map(([name, version]) => `- ${name}: ${version}`),
    "",
    "## The agent",
    "",
    ...(await examined(sources, asked)),
    "",
    "## The newest decisions",
    "",
    ...(Array.isArray(events) ? decisions(events) : [`They aren't available: ${events}`]),
    "",
    "## The end of the log",
    "",
    ...fenced(sources.lines()),
    "",
  ].join("\n");
  const document = await vscode.workspace.openTextDocument({
    language: "markdown",
    content: hidden(text, await sources.secrets()),
  });
  await vscode.window.showTextDocument(document, { preview: false });
}

const HEAD = [
  "# A problem with vscodelm",
  "",
  "Nothing was sent. Read this document, and delete what nobody else should see: paths and names of your",
  "project may be in it. Secrets read `[redacted]`, and the words of your chats are left out.",
  "Then paste it wherever you report the problem.",
  "",
  "## What happened",
  "",
  "(Write what you did, what you expected, and what happened instead.)",
  "",
];

async function examined(sources: ProblemSources, asked: string | undefined): Promise<string[]> {
  if (asked === undefined || !sources.models().includes(asked)) {
    return ["No chat of this window has asked an agent since vscodelm started."];
  }
  try {
    const report = await sources.examine(asked);
    return report === undefined
      ? [`The examination of ${asked} was cancelled.`]
      : // A heading of the doctor's is one level lower here.
        report.text
          .trim()
          .replace(/^# .*\n+/, "")
          .replace(/^(?=##)/gm, "#")
          .split("\n");
  } catch (error) {
    return [`${asked} can't be examined: ${messageOf(error)}`];
  }
}

function decisions(events: InspectedEvent[]): string[] {
  const shown = events.slice(-MOST_DECISIONS).map(lineOf);
  return shown.length > 0 ? fenced(shown) : ["There are none since vscodelm started."];
}

/** Tell of a decision, without a word of the chat. */
function lineOf(event: InspectedEvent): string {
  const at = event.at === undefined ? "" : `${event.at.toFixed(1)} s: `;
  switch (event.event) {
    case "end":
      return `${at}conversation ${event.conversation} ends: ${event.why}`;
    case "refusal":
      return `${at}request ${event.request} is refused: ${event.why}`;
    case "request": {
      const facts = event.facts.map(({ name, text }) => (name ? `${name}: ${text}` : text));
      const failure = event.failure === undefined ? "" : ` (${event.failure})`;
      const where = `request ${event.request}, ${event.requestClass}, conversation ${event.conversation}, ${event.model}`;
      return [`${at}${where}`, ...facts, `ended: ${event.ending}${failure}`].join("\n    ");
    }
  }
}

function isRequest(event: InspectedEvent): event is InspectedRequest {
  return event.event === "request";
}

/** A block of code, in which nothing is Markdown, whatever stands in it. */
function fenced(lines: string[]): string[] {
  const runs = lines.join("\n").match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return [`${fence}text`, ...lines, fence];
}

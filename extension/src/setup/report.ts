// The doctor's report as a document: the findings of `vscodelm doctor --json`, and the lines of its fixes.

import type { Told } from "../mcp/servers.ts";
import { withoutUnseen } from "../unseen.ts";
import { type Fix, fixesIn } from "./fix.ts";

interface Finding {
  step: string;
  state: string;
  summary: string;
  seconds?: number;
  facts?: Record<string, string>;
  advice?: string;
  stderr?: string;
}

export interface Report {
  /** Markdown. */
  text: string;
  /** In one sentence. */
  verdict: string;
  usable: boolean;
  fixes: Fix[];
  /** The line above which the fixes are shown. */
  fixesAt: number;
}

const MARKS: Record<string, string> = { ok: "ok", note: "note", failed: "FAILED" };

/**
 * Make the report from the doctor's output. Output that isn't JSON is an error message. `harness` is
 * the harness that sent the newest chat request, and `servers` are the user's MCP servers.
 */
export function reportOf(
  id: string,
  printed: string,
  harness?: string,
  servers: Told[] = [],
): Report {
  const { usable, findings } = read(printed);
  const failed = findings.find(({ state }) => state === "failed");
  const fixes = findings.flatMap((finding) => fixesIn((finding as { fixes?: unknown }).fixes));
  const verdict = usable
    ? `${id} can be used.`
    : `${id} can't be used as it is: ${(failed?.summary ?? printed.trim()) || "the doctor said nothing"}`;
  const advice = failed?.advice ? ["", failed.advice] : [];
  const head = [`# The doctor's report on ${id}`, "", verdict, ...advice, ""];
  const steps = findings.flatMap(linesOf);
  const body = steps.length > 0 ? ["## What was examined", "", ...steps] : [];
  const chats = harness === undefined ? [] : ["", "## The chats of this window", "", harness];
  const own = servers.length > 0 ? ["", "## Your MCP servers", "", ...servers.map(serverLine)] : [];
  const text = [...head, ...body, ...chats, ...own, ""].join("\n");
  return { text, verdict, usable, fixes, fixesAt: 2 };
}

function linesOf({ step, state, summary, seconds, facts, stderr }: Finding): string[] {
  const took = seconds === undefined ? "" : ` (${seconds} s)`;
  const more = Object.entries(facts ?? {}).map(([label, fact]) => `  - ${label}: ${fact}`);
  const words = stderr ? ["  - the last lines of its standard error:", ...indented(stderr)] : [];
  return [`- ${step}, ${MARKS[state] ?? state}: ${summary}${took}`, ...more, ...words];
}

function serverLine({ name, status }: Told): string {
  return `- ${withoutUnseen(name, () => "?")}: ${status}`;
}

/** A block of code: nothing in it is Markdown. */
function indented(text: string): string[] {
  return ["", ...text.split("\n").map((line) => `        ${line}`), ""];
}

function read(printed: string): { usable: boolean; findings: Finding[] } {
  try {
    const { usable, findings } = JSON.parse(printed);
    return { usable: usable === true, findings: Array.isArray(findings) ? findings : [] };
  } catch {
    return { usable: false, findings: [] };
  }
}

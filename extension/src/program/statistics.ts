// Formats the counts of the process as lines for the log: how requests found their conversations,
// and which sessions agents hold.

import type { AgentProcess, NewestRequest, SessionUsage, Stats } from "./wire.ts";

const HARNESSES: Record<string, string> = {
  local: "local harness",
  agentHost: "Agent Host",
  other: "other callers",
};

export function statisticsLines(stats: Stats): string[] {
  const { requestsByClass, requestsByHarness, matchesByRule, missesByReason, ...now } = stats;
  const harnesses = Object.entries(requestsByHarness).map(([one, n]) => [named(one), n] as const);
  return [
    `requests: ${counts(requestsByClass)}`,
    `chat requests from: ${counts(Object.fromEntries(harnesses))}`,
    `conversations found by: ${counts(matchesByRule)}`,
    `not found, because: ${counts(missesByReason)}`,
    `now: ${counts({ conversations: now.liveConversations, sessions: now.sessions, processes: now.processes })}`,
    ...processLines(now.agentProcesses ?? []),
    ...(now.agentSessions ?? []).map(sessionLine),
  ];
}

/** Say which harness sent the newest chat request, and what that means for an answer. */
export function harnessLine(newest: NewestRequest | undefined): string {
  if (newest === undefined) {
    return "No chat has asked a model of vscodelm since the program started.";
  }
  const { harness, offersProgress } = newest;
  const asked = `The newest chat request came from ${harness === "other" ? "an extension or an old version of VS Code" : `VS Code's ${named(harness)}`}.`;
  if (harness !== "agentHost") {
    return asked;
  }
  return offersProgress
    ? `${asked} It offered the tool vscodelm-progress, so an answer is shown while it grows.`
    : `${asked} It didn't offer the tool vscodelm-progress: an answer is shown when it is complete, and Stop reaches the agent with the next message.`;
}

function named(harness: string): string {
  return HARNESSES[harness] ?? harness;
}

function processLines(found: AgentProcess[]): string[] {
  const measured = found.flatMap((one) => one.memoryBytes ?? []);
  const all = measured.reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...(measured.length > 0 ? [`memory of agents: ${memory(all)}`] : []),
    ...found.map((one) => `  ${one.agent}: ${[`process ${one.pid}`, ...held(one)].join(", ")}`),
  ];
}

function sessionLine(session: SessionUsage): string {
  const { agent, turns, title, promptTokens = 0, completionTokens = 0, commands = [] } = session;
  const words = [
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    usageWords(session, promptTokens + completionTokens),
    commands.length > 0 ? `commands: ${commands.length}` : "",
  ];
  const name = title === undefined ? agent : `${agent}, "${title}"`;
  return `  ${name}: session with ${words.filter(Boolean).join(", ")}`;
}

/** Return the words for it, such as "64K of 200K tokens, 0.12 USD"; none where nothing is known. */
export function usageWords(
  { usedTokens, contextWindow, cost }: Pick<SessionUsage, "usedTokens" | "contextWindow" | "cost">,
  soFar: number,
  inTurn = 0,
): string {
  const of = contextWindow ? ` of ${short(contextWindow)}` : "";
  return [
    ...(usedTokens ? [`${short(usedTokens)}${of} tokens in its context`] : []),
    ...(inTurn ? [`${short(inTurn)} tokens in this turn`] : []),
    ...(soFar ? [`${short(soFar)} tokens so far`] : []),
    ...(cost ? [`${Number(cost.amount.toFixed(4))} ${cost.currency} so far`] : []),
  ].join(", ");
}

function short(tokens: number): string {
  const units = [
    { of: 1_000_000, unit: "M" },
    { of: 1_000, unit: "K" },
  ];
  const { of, unit } = units.find(({ of }) => tokens >= of) ?? { of: 1, unit: "" };
  const number = tokens / of;
  return `${number < 10 ? Number(number.toFixed(1)) : Math.round(number)}${unit}`;
}

function held({ processes, memoryBytes }: AgentProcess): string[] {
  const children = (processes ?? 1) - 1;
  return [
    ...(children > 0 ? [`${children} ${children === 1 ? "child" : "children"}`] : []),
    ...(memoryBytes === undefined ? [] : [memory(memoryBytes)]),
  ];
}

function memory(bytes: number): string {
  const megabytes = bytes / 1_000_000;
  return megabytes < 1_000 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1_000).toFixed(1)} GB`;
}

function counts(counted: Record<string, number>): string {
  const entries = Object.entries(counted);
  return entries.map(([what, count]) => `${what} ${count}`).join(", ") || "none";
}

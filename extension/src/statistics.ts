// What the process counts, as lines for the log: how requests found their conversations, and what agents hold.

import type { AgentProcess, Stats } from "./wire.ts";

export function statisticsLines(stats: Stats): string[] {
  const { requestsByClass, matchesByRule, missesByReason, ...now } = stats;
  return [
    `requests: ${counts(requestsByClass)}`,
    `conversations found by: ${counts(matchesByRule)}`,
    `not found, because: ${counts(missesByReason)}`,
    `now: ${counts({ conversations: now.liveConversations, sessions: now.sessions, processes: now.processes })}`,
    ...processLines(now.agentProcesses ?? []),
  ];
}

function processLines(found: AgentProcess[]): string[] {
  const measured = found.flatMap((one) => one.memoryBytes ?? []);
  const all = measured.reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...(measured.length > 0 ? [`memory of agents: ${memory(all)}`] : []),
    ...found.map((one) => `  ${one.agent}: ${[`process ${one.pid}`, ...held(one)].join(", ")}`),
  ];
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

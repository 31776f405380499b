// What the process counts, as lines for the log: how requests found their conversations.

import type { Stats } from "./wire.ts";

export function statisticsLines(stats: Stats): string[] {
  const { requestsByClass, matchesByRule, missesByReason, ...now } = stats;
  return [
    `requests: ${counts(requestsByClass)}`,
    `conversations found by: ${counts(matchesByRule)}`,
    `not found, because: ${counts(missesByReason)}`,
    `now: ${counts({ conversations: now.liveConversations, sessions: now.sessions, processes: now.processes })}`,
  ];
}

function counts(counted: Record<string, number>): string {
  const entries = Object.entries(counted);
  return entries.map(([what, count]) => `${what} ${count}`).join(", ") || "none";
}

import { expect, test } from "vitest";
import { statisticsLines } from "../src/statistics.ts";

test("every counter is on a line, and none is said where there is none", () => {
  const now = { liveConversations: 1, sessions: 3, processes: 2 };
  const found = { matchesByRule: { prefix: 4, "tool call": 1 }, missesByReason: {} };
  expect(statisticsLines({ requestsByClass: { chat: 5 }, ...found, ...now })).toEqual([
    "requests: chat 5",
    "conversations found by: prefix 4, tool call 1",
    "not found, because: none",
    "now: conversations 1, sessions 3, processes 2",
  ]);
});

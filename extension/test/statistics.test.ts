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

const NOTHING = {
  requestsByClass: {},
  matchesByRule: {},
  missesByReason: {},
  liveConversations: 1,
  sessions: 1,
};

test("each process of an agent is on a line, with what it holds", () => {
  const agentProcesses = [
    { agent: "OpenCode", pid: 7, processes: 3, memoryBytes: 700_000_000 },
    { agent: "OpenCode", pid: 8, processes: 2, memoryBytes: 524_288_000 },
    { agent: "Claude", pid: 9, processes: 1, memoryBytes: 1_000_000 },
  ];
  expect(statisticsLines({ ...NOTHING, processes: 3, agentProcesses }).slice(4)).toEqual([
    "memory of agents: 1.2 GB",
    "  OpenCode: process 7, 2 children, 700 MB",
    "  OpenCode: process 8, 1 child, 524 MB",
    "  Claude: process 9, 1 MB",
  ]);
});

test("where nothing can be read of a process, only its number is said", () => {
  const agentProcesses = [{ agent: "OpenCode", pid: 7 }];
  expect(statisticsLines({ ...NOTHING, processes: 1, agentProcesses }).slice(4)).toEqual([
    "  OpenCode: process 7",
  ]);
});

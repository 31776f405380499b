import { expect, test } from "vitest";
import { harnessLine, statisticsLines } from "../../src/program/statistics.ts";

test("every counter is on a line, and none is said where there is none", () => {
  const now = { liveConversations: 1, sessions: 3, processes: 2 };
  const found = { matchesByRule: { prefix: 4, "tool call": 1 }, missesByReason: {} };
  const asked = {
    requestsByClass: { main: 5, utility: 1 },
    requestsByHarness: { local: 2, agentHost: 3 },
  };
  expect(statisticsLines({ ...asked, ...found, ...now })).toEqual([
    "requests: main 5, utility 1",
    "chat requests from: local harness 2, Agent Host 3",
    "conversations found by: prefix 4, tool call 1",
    "not found, because: none",
    "now: conversations 1, sessions 3, processes 2",
  ]);
});

const NOTHING = {
  requestsByClass: {},
  requestsByHarness: {},
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
  expect(statisticsLines({ ...NOTHING, processes: 3, agentProcesses }).slice(5)).toEqual([
    "memory of agents: 1.2 GB",
    "  OpenCode: process 7, 2 children, 700 MB",
    "  OpenCode: process 8, 1 child, 524 MB",
    "  Claude: process 9, 1 MB",
  ]);
});

test("each session of an agent is on a line, with its tokens and costs", () => {
  const agentSessions = [
    { agent: "Claude", turns: 1 },
    {
      ...{ agent: "OpenCode", turns: 2, title: "Mend it", usedTokens: 64_000 },
      ...{ contextWindow: 200_000, promptTokens: 1_400_000, completionTokens: 100_000 },
      ...{ cost: { amount: 0.12345678, currency: "USD" } },
      commands: [{ name: "review", description: "", hint: "" }],
    },
  ];
  expect(statisticsLines({ ...NOTHING, processes: 0, agentSessions }).slice(5)).toEqual([
    "  Claude: session with 1 turn",
    '  OpenCode, "Mend it": session with 2 turns, 64K of 200K tokens in its context, ' +
      "1.5M tokens so far, 0.1235 USD so far, commands: 1",
  ]);
});

test("where nothing can be read of a process, only its number is said", () => {
  const agentProcesses = [{ agent: "OpenCode", pid: 7 }];
  expect(statisticsLines({ ...NOTHING, processes: 1, agentProcesses }).slice(5)).toEqual([
    "  OpenCode: process 7",
  ]);
});

test.each([
  ["local", true, "VS Code's local harness."],
  ["local", false, "VS Code's local harness."],
  ["other", false, "an extension or an old version of VS Code."],
  ["cloud", false, "VS Code's cloud."],
])("the newest request's harness is named: %s", (harness, offersProgress, named) => {
  expect(harnessLine({ harness, offersProgress })).toBe(
    `The newest chat request came from ${named}`,
  );
});

test("of the Agent Host it is said whether answers can be shown while they grow", () => {
  expect(harnessLine({ harness: "agentHost", offersProgress: true })).toContain("while it grows");
  const without = harnessLine({ harness: "agentHost", offersProgress: false });
  expect(without).toContain(
    "when it is complete, and Stop reaches the agent with the next message",
  );
  expect(harnessLine(undefined)).toContain("No chat has asked");
});

import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { insertAgentCommand } from "../../src/agents/agent_commands.ts";
import type { SessionUsage } from "../../src/program/wire.ts";
import { openAnew, person } from "../vscode.ts";

const NOTHING = {
  ...{ requestsByClass: {}, requestsByHarness: {}, matchesByRule: {}, missesByReason: {} },
  ...{ liveConversations: 0, sessions: 0, processes: 0 },
};
const command = (name: string) => ({ name, description: `Do ${name}.`, hint: "what" });
const server = (...agentSessions: SessionUsage[]) => ({
  stats: async () => ({ ...NOTHING, ...(agentSessions.length > 0 && { agentSessions }) }),
});
let opened: unknown[] = [];

beforeEach(() => {
  openAnew();
  opened = [];
  vscode.commands.registerCommand("workbench.action.chat.open", (options) => opened.push(options));
});

test("the commands of each agent are listed with its name, those of the newest first", async () => {
  const shown = vi.spyOn(vscode.window, "showQuickPick");
  const [old, claude] = ["Old", "Claude"].map((agent) => ({
    ...{ agent, turns: 1 },
    commands: [{ ...command("init"), hint: agent === "Old" ? "" : "what" }],
  })) as [SessionUsage, SessionUsage];
  const former = { ...claude, commands: [command("gone")] };
  await insertAgentCommand(server(old, former, claude));
  await insertAgentCommand(server(claude, { agent: "Plain", turns: 1 }));
  const told = shown.mock.calls.map(([items, options]) => [
    (items as vscode.QuickPickItem[]).map(({ label, description }) => `${label} ${description}`),
    options?.title,
    options?.placeHolder,
  ]);
  const place = "The command is put into the chat's input. Complete it there.";
  expect(told).toEqual([
    [["/init Claude · what", "/init Old"], "Commands of Claude, Old", place],
    [
      ["/init what"],
      "Commands of Claude",
      `Plain, which you used last, has named no commands. ${place}`,
    ],
  ]);
});

test("a command of the newest agent that has any is put into the chat's input", async () => {
  person.picks = ["/mcp:x/review"];
  await insertAgentCommand(
    server(
      { agent: "Old", turns: 1, commands: [command("old")] },
      { agent: "Claude", turns: 1, commands: [command("init"), command("mcp:x/review")] },
      { agent: "Plain", turns: 1 },
    ),
  );
  expect(opened).toEqual([{ query: "/mcp:x/review ", isPartialQuery: true }]);
});

test("nothing is put there where the person chooses none", async () => {
  person.picks = [];
  await insertAgentCommand(server({ agent: "Claude", turns: 1, commands: [command("init")] }));
  expect(opened).toEqual([]);
});

test("where no agent has commands, the person reads when they come", async () => {
  await insertAgentCommand(server());
  await insertAgentCommand(server({ agent: "Plain", turns: 1, commands: [] }));
  expect(person.asked).toHaveLength(2);
  expect(person.asked[0]).toContain("No agent has named its commands yet");
  expect(opened).toEqual([]);
});

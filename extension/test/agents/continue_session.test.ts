import { beforeEach, expect, test } from "vitest";
import * as vscode from "vscode";
import { readAgents } from "../../src/agents/agents.ts";
import { ago, continueSession } from "../../src/agents/continue_session.ts";
import { Models } from "../../src/chat/models.ts";
import { RpcError } from "../../src/program/connection.ts";
import type { ListedSession, SessionsParams } from "../../src/program/wire.ts";
import { Fixer } from "../../src/setup/fixes.ts";
import { Memory } from "../memory.ts";
import { openAnew, person } from "../vscode.ts";

const agent = { acp: { name: "mine", command: "mine" } };
const MINE = { mine: { name: "Mine", agent } };
const NOW = Date.parse("2026-01-10T12:00:00Z");
const session: ListedSession = {
  ...{ sessionId: "s1", cwd: "/x", title: "Fix it", updatedAt: "2026-01-10T10:00:00Z" },
};

let asked: SessionsParams[];
let answer: () => Promise<ListedSession[] | undefined>;
/** What was done with the chat. */
let chats: unknown[];

beforeEach(() => {
  openAnew();
  [asked, chats] = [[], []];
  for (const name of ["newChat", "open"]) {
    vscode.commands.registerCommand(`workbench.action.chat.${name}`, (...args) =>
      chats.push([name, ...args]),
    );
  }
  answer = async () => [session, { sessionId: "s2", cwd: "/x" }];
});

function run(agents: Record<string, unknown> = MINE): Promise<void> {
  const variables = { workspaceFolder: "/project", userHome: "/home/me", env: {} };
  const read = () => readAgents(agents, {}, variables);
  const models = new Models(new Memory(), read, async () => ({ models: [] }), {
    info() {},
    warn() {},
  });
  const server = {
    async sessions(params: SessionsParams) {
      asked.push(params);
      return answer();
    },
  };
  const log = { error: (line: string) => person.log.push(line), show() {} };
  const own = { setKey: async () => true, logIn: async () => true, environment: () => ({}), log };
  return continueSession(server, models, new Fixer(own), () => NOW);
}

const opened = (id: string) => [
  ["newChat"],
  [
    "open",
    {
      query: `/continue ${id}`,
      isPartialQuery: false,
      modelSelector: { vendor: "vscodelm", id: "mine" },
    },
  ],
];

test("the chosen session is continued in a new chat with its agent", async () => {
  person.picks = ["Fix it"];
  await run();
  expect(asked).toEqual([{ modelId: "mine", agent }]);
  expect(person.lists).toEqual([["Fix it", "Untitled session"]]);
  expect(chats).toEqual(opened("s1"));
});

test("a title is shown as the agent wrote it, and makes no icons", async () => {
  answer = async () => [
    { ...session, title: "$(trash) [Go](command:go)\u202e\n  now" },
    { ...session, sessionId: "a$(b)", title: "\u202e" },
  ];
  person.picks = ["Untitled session"];
  await run();
  expect(person.lists).toEqual([["\\$(trash) [Go]\u200b(command:go) now", "Untitled session"]]);
  expect(chats).toEqual(opened("a$(b)"));
});

test("of several agents one is chosen first; endpoints and Eliza keep no sessions", async () => {
  person.picks = ["Mine", "Untitled session"];
  await run({
    ...MINE,
    other: { name: "Other", agent },
    endpoint: { agent: { openResponses: { url: "http://localhost:1/v1", model: "m" } } },
    eliza: { agent: { eliza: {} } },
  });
  expect(person.lists[0]).toEqual(["Mine", "Other"]);
  expect(chats).toEqual(opened("s2"));
});

test("who leaves a list, or stops the listing, opens no chat", async () => {
  await run();
  await run({ ...MINE, other: { name: "Other", agent } });
  answer = async () => undefined;
  await run();
  expect(chats).toEqual([]);
  expect(person.asked).toEqual([]);
});

test("that there is no agent, or no session, is told", async () => {
  await run({});
  answer = async () => [];
  await run();
  expect(person.asked).toEqual([
    "There is no agent whose sessions could be continued. Add one first: vscodelm: Add Agent...",
    "Mine has no earlier sessions in the folders of this window.",
  ]);
});

test("a failure is told, with its fixes where it has some", async () => {
  answer = () => Promise.reject(new Error("mine can't list its sessions."));
  await expect(run()).rejects.toThrow("mine can't list its sessions.");
  const terminal = { type: "terminal", title: "Log in", command: "mine", args: ["login"] };
  const data = { kind: "NoPermissions", detail: "-32000", fixes: [terminal] };
  answer = () => Promise.reject(new RpcError(-32000, "mine needs a login.", data));
  person.presses = "Log in";
  await run();
  expect(person.asked).toContain("mine needs a login.");
  expect(person.tasks).toHaveLength(1);
});

test.each([
  ["2026-01-10T11:59:30Z", "just now"],
  ["2026-01-10T13:00:00Z", "just now"],
  ["2026-01-10T11:58:00Z", "2 minutes ago"],
  ["2026-01-10T11:00:00Z", "1 hour ago"],
  ["2026-01-09T11:00:00Z", "yesterday"],
  ["2025-01-01T00:00:00Z", "last year"],
  ["soon", ""],
  [undefined, ""],
])("%s is %s", (time, words) => {
  expect(ago(time, NOW)).toBe(words);
});

import { beforeEach, expect, test, vi } from "vitest";
import { readAgents } from "../../src/agents/agents.ts";
import { Logins } from "../../src/agents/logins.ts";
import { Models } from "../../src/chat/models.ts";
import { RpcError } from "../../src/program/connection.ts";
import type { AccountParams } from "../../src/program/wire.ts";
import { Fixer } from "../../src/setup/fixes.ts";
import { Memory } from "../memory.ts";
import { openAnew, person } from "../vscode.ts";

const agent = { acp: { name: "mine", command: "mine" } };
const log = { error: (line: string) => person.log.push(line), show() {} };
const terminal = { type: "terminal", title: "Log in", command: "mine", args: ["login"] };
const wantsLogin = new RpcError(-32000, "mine wants you to log in. Run `mine`.", {
  ...{ kind: "NoPermissions", detail: "-32000", fixes: [terminal] },
});

let asked: AccountParams[];
let answer: () => Promise<void>;
let isCancelled: boolean;
let logins: Logins;

beforeEach(() => {
  openAnew();
  [asked, isCancelled] = [[], false];
  answer = async () => {};
  const variables = { workspaceFolder: "/project", userHome: "/home/me", env: {} };
  const quiet = { info() {}, warn() {} };
  const read = () => readAgents({ mine: { name: "Mine", agent } }, {}, variables);
  const models = new Models(new Memory(), read, async () => ({ models: [] }), quiet);
  const server = {
    async account(params: AccountParams) {
      asked.push(params);
      await answer();
      return !isCancelled;
    },
  };
  logins = new Logins(server, models, log, () => fixer);
  const fixer = new Fixer({
    setKey: async () => true,
    logIn: (modelId, methodId) => logins.logIn(modelId, methodId),
    environment: () => ({}),
    log,
  });
});

test("a login names the agent, as a chat does", async () => {
  await logins.logIn("mine", "browser");
  expect(asked).toEqual([{ modelId: "mine", agent, methodId: "browser" }]);
});

test("a logout asks which agent, and tells that it is done", async () => {
  await logins.logOut();
  expect(asked).toEqual([]);
  person.picks = ["Mine (mine)"];
  await logins.logOut();
  expect(asked).toEqual([{ modelId: "mine", agent }]);
  expect(person.asked).toEqual(["Mine (mine) is logged out. The next message may need a login."]);
});

test("what was cancelled isn't told to be done", async () => {
  isCancelled = true;
  person.picks = ["Mine (mine)"];
  await logins.logOut();
  expect(await logins.logIn("mine", "browser")).toBe(false);
  expect(person.asked).toEqual([]);
});

test("a logout that fails is told, with its fixes where it has some", async () => {
  person.picks = ["Mine (mine)", "Mine (mine)"];
  answer = () => Promise.reject(new Error("no way"));
  await expect(logins.logOut()).rejects.toThrow("no way");
  answer = () => Promise.reject(wantsLogin);
  person.presses = "Log in";
  await logins.logOut();
  expect(person.tasks).toHaveLength(1);
});

test("a chat that fails for want of a login offers it, once at a time, and leads back", async () => {
  person.presses = "Log in";
  logins.failed({ id: "mine" }, wantsLogin);
  logins.failed({ id: "mine" }, wantsLogin);
  await vi.waitFor(() => expect(person.tasks).toHaveLength(1));
  expect(person.asked).toEqual(["mine wants you to log in."]);
  person.presses = "Go to the Chat";
  person.tasks[0]?.end(0);
  await vi.waitFor(() => expect(person.ran).toEqual([["workbench.action.chat.open"]]));
  logins.failed({ id: "mine" }, wantsLogin);
  await vi.waitFor(() => expect(person.asked).toHaveLength(3));
});

test("a failure without a fix shows no message", () => {
  logins.failed({ id: "mine" }, new Error("odd"));
  expect(person.asked).toEqual([]);
});

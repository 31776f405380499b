import { afterEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { readAgents } from "../../src/agents/agents.ts";
import { Models } from "../../src/chat/models.ts";
import { type ChatAnswer, Provider } from "../../src/chat/provider.ts";
import { Questions } from "../../src/chat/questions.ts";
import { digestOf, Rules } from "../../src/chat/rules.ts";
import { ShownUsage } from "../../src/chat/usage.ts";
import { AgentChanges } from "../../src/edits/agent_changes.ts";
import { RpcError } from "../../src/program/connection.ts";
import { launchOf } from "../../src/program/launch.ts";
import { logLevel, logLine } from "../../src/program/log.ts";
import {
  type ChatParams,
  type ModelInformation,
  type Part,
  PERMISSION_TOOL,
} from "../../src/program/wire.ts";
import { Secrets } from "../../src/setup/secrets.ts";
import { TokenCounter } from "../../src/tokens/counter.ts";
import { Memory, Vault } from "../memory.ts";
import { openAnew, person } from "../vscode.ts";

const variables = { workspaceFolder: "/project", userHome: "/home/me", env: {} };
const token = new vscode.CancellationTokenSource().token;
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const own = (id: string): ModelInformation => ({
  id,
  name: id,
  family: id,
  version: "1",
  maxInputTokens: 1,
  maxOutputTokens: 1,
  capabilities: {},
});

afterEach(() => {
  vi.useRealTimers();
});

type Setting = Record<string, unknown>;

function modelsOf(
  setting: () => Setting,
  ask: () => Promise<unknown> = async () => [own("own")],
  memory = new Memory(),
  faults: () => unknown = () => undefined,
  told: string[] = [],
) {
  return new Models(
    memory,
    () => readAgents(setting(), { thinking: "part" }, variables),
    async () => ({ models: await ask(), faults: faults() }),
    quiet,
    (words) => told.push(words),
  );
}

const rules = new Rules(new Memory());

type Chat = (params: ChatParams, received: (part: Part) => void) => Promise<unknown>;

function providerOf(
  answer: Chat,
  failed: (model: { id: string }, error: unknown) => void = () => {},
) {
  const item = {
    text: "",
    tooltip: undefined,
    command: undefined,
    show() {},
    hide() {},
    dispose() {},
  };
  const models = modelsOf(() => ({ eliza: { agent: { eliza: {} } } }));
  const questions = new Questions();
  const chat = async (params: ChatParams, received: (part: Part) => void) =>
    (await answer(params, received)) as RpcError | undefined;
  const changes = new AgentChanges(item);
  const used = { text: "", detail: "", dispose() {} };
  const usage = new ShownUsage(() => used);
  const provider = new Provider({ chat }, models, questions, rules, changes, usage, quiet, failed);
  return { provider, questions, used };
}

const message = { role: 1, content: [new vscode.LanguageModelTextPart("hi")], name: undefined };

test("a request carries the agent and the settings of its model, and parts come back", async () => {
  const asked: ChatParams[] = [];
  const { provider } = providerOf(async (params, received) => {
    asked.push(params);
    received({ type: "text", value: "hello" });
  });
  const parts: unknown[] = [];
  const progress = { report: (part: unknown) => parts.push(part) };
  await provider.provideLanguageModelChatResponse(
    own("eliza"),
    [message],
    { toolMode: 1 },
    progress,
    token,
  );
  expect(asked).toEqual([
    {
      modelId: "eliza",
      messages: [{ role: "user", content: [{ type: "text", value: "hi" }] }],
      agent: { eliza: {} },
      settings: { thinking: "part" },
      options: { toolMode: "auto" },
    },
  ]);
  expect(parts).toEqual([new vscode.LanguageModelTextPart("hello")]);
  await provider
    .provideLanguageModelChatResponse(own("own"), [message], { toolMode: 1 }, progress, token)
    .catch(() => {});
  expect(asked[1]).not.toHaveProperty("agent");
});

test("a question reaches the editor without what it says, and rules go along with requests", async () => {
  const asked: ChatParams[] = [];
  const parameters = { title: "Run it", kind: "execute", rawInput: { command: "ls" } };
  const call: Part = {
    type: "tool_call",
    toolCallId: "1",
    toolName: PERMISSION_TOOL,
    parameters,
  };
  const { provider, questions } = providerOf(async (params, received) => {
    asked.push(params);
    received(call);
  });
  const parts: unknown[] = [];
  const progress = { report: (part: unknown) => parts.push(part) };
  const ask = (content: object[]) =>
    provider.provideLanguageModelChatResponse(
      own("eliza"),
      [{ ...message, content }],
      { toolMode: 1 },
      progress,
      token,
    );
  await ask(message.content);
  expect(parts).toEqual([new vscode.LanguageModelToolCallPart("1", PERMISSION_TOOL, {})]);
  expect(questions.find({})).toMatchObject({ title: "Run it", asker: { name: "eliza" } });
  const rule = { id: "eliza", name: "Eliza", definition: digestOf({ eliza: {} }) };
  const all = { action: undefined, command: undefined, isForGood: false };
  await rules.add({ ...rule, ...all, kind: "execute" });
  await ask([new vscode.LanguageModelToolResultPart("1", [])]);
  expect(asked.map(({ options }) => options.allowed)).toEqual([undefined, [{ kind: "execute" }]]);
  expect(parts).toHaveLength(2);
  expect(parts[1]).toEqual(parts[0]); // the first is over
});

test("who asks for a person is given a plain error, and others the kind of failure", async () => {
  const { provider } = providerOf(async () => {
    throw new RpcError(-32000, "Log in.", { kind: "NoPermissions", detail: "401" });
  });
  const ask = (requestInitiator: string) => {
    const options = { toolMode: 1, requestInitiator };
    return provider
      .provideLanguageModelChatResponse(own("eliza"), [message], options, { report() {} }, token)
      .catch((error) => error);
  };
  const answers: ChatAnswer[] = [];
  provider.onDidAnswerChat((answer) => answers.push(answer));
  expect((await ask("some.extension")).code).toBe("NoPermissions");
  expect(answers).toEqual([]);
  const shown = await ask("github.copilot-chat");
  expect(answers).toEqual([{ model: "eliza", failure: "Log in." }]);
  expect([shown.message, shown.stack, shown.code]).toEqual(["Log in.", "", undefined]);
});

test("a failure that its answer tells is a failure to all but the chat", async () => {
  const data = { kind: "NoPermissions", detail: "401" };
  const told = new RpcError(-32000, "Log in first.", data);
  const failures: unknown[] = [];
  const { provider } = providerOf(
    async (_, received) => {
      received({ type: "text", value: told.message });
      return told;
    },
    (model, error) => failures.push([model.id, error]),
  );
  const answers: ChatAnswer[] = [];
  provider.onDidAnswerChat((answer) => answers.push(answer));
  const parts: unknown[] = [];
  await provider.provideLanguageModelChatResponse(
    own("eliza"),
    [message],
    { toolMode: 1, requestInitiator: "core" } as vscode.ProvideLanguageModelChatResponseOptions,
    { report: (part) => parts.push(part) },
    token,
  );
  expect(parts).toEqual([new vscode.LanguageModelTextPart("Log in first.")]);
  expect(failures).toEqual([["eliza", told]]);
  expect(answers).toEqual([{ model: "eliza", failure: "Log in first." }]);
});

test("an answer in the built-in chat is announced, and one to another extension isn't", async () => {
  const { provider } = providerOf(async () => {});
  const answers: ChatAnswer[] = [];
  provider.onDidAnswerChat((answer) => answers.push(answer));
  for (const requestInitiator of ["some.extension", "github.copilot-chat"]) {
    const options = { toolMode: 1, requestInitiator };
    const progress = { report() {} };
    await provider.provideLanguageModelChatResponse(
      own("eliza"),
      [message],
      options,
      progress,
      token,
    );
  }
  expect(answers).toEqual([{ model: "eliza" }]);
});

test("a question that the editor could not ask is told when its answer is sent on", async () => {
  openAnew();
  const { provider } = providerOf(async () => {});
  const call = new vscode.LanguageModelToolCallPart("1", PERMISSION_TOOL, { title: "Run it" });
  const words = "ERROR while calling tool: Extension 'x' CANNOT use API proposal: y.";
  const result = new vscode.LanguageModelToolResultPart("1", [
    new vscode.LanguageModelTextPart(words),
  ]);
  await provider.provideLanguageModelChatResponse(
    own("eliza"),
    [message, { ...message, role: 2, content: [call] }, { ...message, content: [result] }],
    { toolMode: 1 },
    { report() {} },
    token,
  );
  expect(person.asked).toEqual([expect.stringContaining("VS Code could not ask you")]);
});

test("a request that can't even be sent ends with an error", async () => {
  const { provider } = providerOf(async () => {});
  const broken = {
    role: 1,
    name: undefined,
    get content(): never {
      throw new Error("no content");
    },
  };
  const options = { toolMode: 1, requestInitiator: "core" };
  const answer = provider.provideLanguageModelChatResponse(
    own("eliza"),
    [broken],
    options,
    { report() {} },
    token,
  );
  await expect(answer).rejects.toThrow("no content");
});

test("an estimate that can't be made better costs no part of the answer", async () => {
  const { provider } = providerOf(async (_, received) => {
    const data = Buffer.from('{"prompt_tokens": 3}').toString("base64");
    received({ type: "data", mimeType: "usage", data });
  });
  vi.spyOn(TokenCounter.prototype, "learn").mockImplementation(() => {
    throw new Error("no estimate");
  });
  const parts: unknown[] = [];
  await provider.provideLanguageModelChatResponse(
    own("eliza"),
    [message],
    { toolMode: 1 },
    { report: (part) => parts.push(part) },
    token,
  );
  expect(parts).toHaveLength(1);
});

test("a list of models that isn't one is none, now and after the next start", async () => {
  const memory = new Memory();
  const models = modelsOf(
    () => ({}),
    async () => [own("own")],
    memory,
  );
  await models.refresh();
  for (const wrong of [null, "text", { models: [] }, undefined]) {
    const others = modelsOf(
      () => ({}),
      async () => wrong,
      memory,
    );
    await others.refresh();
    expect(others.list().map(({ id }) => id)).toEqual(["own"]);
  }
  const some = async () => [null, 3, {}, own("good")];
  const others = modelsOf(() => ({}), some, memory);
  await others.refresh();
  expect(others.list().map(({ id }) => id)).toEqual(["good"]);
});

test("tokens are counted here, of texts and of messages in either shape", async () => {
  const { provider } = providerOf(async () => {});
  const count = (what: unknown) => provider.provideTokenCount(own("m"), what as string);
  const text = await count("four words are here");
  expect(text).toBe(4);
  const content = [new vscode.LanguageModelTextPart("four words are here")];
  const whole = await count({ role: 1, content, name: undefined });
  expect(whole).toBe(text + 1);
  expect(await count({ role: 1, _content: content })).toBe(whole);
  expect(await count({ role: 1 })).toBe(1);
  const image = vscode.LanguageModelDataPart.image(new Uint8Array(100_000), "image/png");
  expect(await count({ role: 1, content: [image] })).toBeGreaterThan(50);
});

test("what an endpoint counted makes the estimates of its model better, and no other's", async () => {
  const usage = (tokens: unknown): Part => ({
    type: "data",
    mimeType: "usage",
    data: Buffer.from(JSON.stringify({ prompt_tokens: tokens })).toString("base64"),
  });
  const text = "some words of a longer text. ".repeat(100);
  const request = (modelId: string, agent: object): ChatParams => ({
    modelId,
    messages: [{ role: "user", content: [{ type: "text", value: text }] }],
    agent,
    options: { toolMode: "auto" },
  });
  const counter = new TokenCounter();
  const before = counter.count(own("e"), text);
  const counted = usage(before * 1.5);
  counter.learn(request("e", { open_responses: {} }), "e", counted);
  counter.learn(request("a", { acp: {} }), "a", counted);
  counter.learn(request("f", { open_responses: {} }), "f", usage("many"));
  const broken = { type: "data", mimeType: "usage", data: "e" };
  counter.learn(request("f", { open_responses: {} }), "f", broken);
  expect(counter.count(own("e"), text)).toBeGreaterThan(before * 1.1);
  expect(counter.count(own("a"), text)).toBe(before);
  expect(counter.count(own("f"), text)).toBe(before);
});

test("models of the settings go before those that the process knows", async () => {
  let setting: Setting = { eliza: { agent: { eliza: {} }, name: "Mine" }, hidden: null };
  const models = modelsOf(
    () => setting,
    async () => [{ ...own("eliza"), name: "Mine" }, own("own"), own("hidden")],
  );
  const changes = vi.fn();
  models.onDidChange(changes);
  expect(models.list().map(({ name }) => name)).toEqual(["Mine"]);
  await models.refresh();
  expect(models.list().map(({ name }) => name)).toEqual(["Mine", "own"]);
  expect(changes).toHaveBeenCalledTimes(1);
  await models.refresh();
  expect(changes).toHaveBeenCalledTimes(1); // nothing was new
  setting = {};
  models.reconfigure();
  expect(models.list().map(({ name }) => name)).toEqual(["Mine", "own", "hidden"]);
  expect(changes).toHaveBeenCalledTimes(2);
});

test("every model may be picked, in versions of VS Code that hide the others, too", async () => {
  const hidden = { ...own("own"), isUserSelectable: false };
  const models = modelsOf(
    () => ({ eliza: { agent: { eliza: {} } } }),
    async () => [hidden],
  );
  await models.refresh();
  expect(models.list()).toMatchObject([
    { id: "eliza", isUserSelectable: true },
    { id: "own", isUserSelectable: true },
  ]);
});

test("the picker shows the kind of each model by an icon and a word", async () => {
  const models = modelsOf(() => ({
    eliza: { agent: { eliza: {} } },
    claude: { registry: "claude-acp" },
    far: { agent: { open_responses: { baseUrl: "http://127.0.0.1:1/v1", model: "m" } } },
  }));
  await models.refresh();
  expect(models.list()).toMatchObject([
    { statusIcon: { id: "comment-discussion" }, category: { label: "For a first try", order: 3 } },
    { statusIcon: { id: "terminal" }, category: { label: "Agent", order: 1 } },
    { statusIcon: { id: "cloud" }, category: { label: "Endpoint", order: 2 } },
    { id: "own" },
  ]);
  expect(models.list().at(-1)).not.toHaveProperty("statusIcon");
});

test("the models are known at once in the next window, and stay when the process can't tell", async () => {
  const memory = new Memory();
  await modelsOf(() => ({}), undefined, memory).refresh();
  const next = modelsOf(
    () => ({}),
    async () => {
      throw new Error("not installed");
    },
    memory,
  );
  expect(next.list().map(({ id }) => id)).toEqual(["own"]);
  await next.refresh();
  expect(next.list().map(({ id }) => id)).toEqual(["own"]);
});

test("the process is asked for its models when they are listed first, and not before", async () => {
  const ask = vi.fn(async () => [own("own")]);
  const models = modelsOf(() => ({}), ask);
  expect(ask).not.toHaveBeenCalled();
  models.list();
  await models.refresh(); // joins the question that was asked
  models.list();
  expect(ask).toHaveBeenCalledTimes(1);
});

test("several who want the models ask one question", async () => {
  const ask = vi.fn(async () => [own("own")]);
  const models = modelsOf(() => ({}), ask);
  await Promise.all([models.refresh(), models.refresh()]);
  expect(ask).toHaveBeenCalledTimes(1);
});

test("the usage of an answer is shown beside the language, and reaches the editor", async () => {
  const record = { total_tokens: 1_234, context_window: 0, chat: { total_tokens: 9_999 } };
  const parts: Part[] = [record, "no record", { cost: { amount: "much" } }].map((value) => ({
    type: "data",
    mimeType: "usage",
    data: Buffer.from(JSON.stringify(value)).toString("base64"),
  }));
  const { provider, used } = providerOf(async (_, received) => {
    received({ type: "text", value: "{}" });
    received({ ...(parts[0] as Part), data: "no JSON" });
    expect(used.text).toBe("");
    parts.forEach(received);
  });
  const seen: unknown[] = [];
  const progress = { report: (part: unknown) => seen.push(part) };
  await provider.provideLanguageModelChatResponse(
    own("eliza"),
    [message],
    { toolMode: 1 },
    progress,
    token,
  );
  expect(seen).toHaveLength(5);
  const text = "1.2K tokens in its context, 10K tokens so far";
  expect(used).toMatchObject({ text, detail: "eliza" });
});

function usagePart(told: unknown): Part {
  const data = Buffer.from(JSON.stringify(told)).toString("base64");
  return { type: "data", mimeType: "usage", data };
}

test("nothing is in the status bar until an answer tells its usage", () => {
  const create = vi.fn(() => ({ text: "", detail: "", dispose: vi.fn() }));
  const usage = new ShownUsage(create);
  usage.take("Claude Code", { type: "text", value: "Hello." });
  usage.dispose();
  expect(create).not.toHaveBeenCalled();
  const record = { total_tokens: 64_000, context_window: 200_000 };
  const turn = { total_tokens: 1_234 };
  const cost = { amount: 0.5, currency: "USD" };
  for (const told of [record, { ...record, cost }]) {
    usage.take("Claude Code", usagePart(told));
  }
  const item = create.mock.results[0]?.value;
  expect(create).toHaveBeenCalledOnce();
  expect(item.text).toBe("64K of 200K tokens in its context, 0.5 USD so far");
  for (const [told, words] of [
    [{ ...record, turn }, "64K of 200K tokens in its context, 1.2K tokens in this turn"],
    [{ ...turn, turn, chat: turn }, "1.2K tokens in this turn, 1.2K tokens so far"],
    [{ cost, turn: 1 }, "0.5 USD so far"],
  ]) {
    usage.take("Claude Code", usagePart(told));
    expect(item.text).toBe(words);
  }
  usage.dispose();
  expect(item.dispose).toHaveBeenCalledOnce();
});

test("a model of the settings is shown as the program says, as soon as it does", async () => {
  const said = {
    ...own("free"),
    name: "Said",
    maxContextWindowTokens: 200,
    configurationSchema: {},
  };
  const models = modelsOf(
    () => ({ free: { agent: { acp: { command: "a" } } } }),
    async () => [said],
  );
  expect(models.list()).toMatchObject([{ name: "free", maxInputTokens: 1_000_000 }]);
  await models.refresh();
  expect(models.list()).toMatchObject([{ ...said, category: { label: "Agent" } }]);
});

test("a model that the program can't use is not listed, is told once, and costs no other", async () => {
  let faults: unknown = { odd: "The model 'odd' can't be used." };
  const told: string[] = [];
  const models = modelsOf(
    () => ({ odd: 1, good: { agent: { eliza: {} } } }),
    async () => [own("good")],
    new Memory(),
    () => faults,
    told,
  );
  const ids = () => models.list().map(({ id }) => id);
  const changes = vi.fn();
  models.onDidChange(changes);
  expect(ids()).toEqual(["odd", "good"]); // nobody knows yet
  await models.refresh();
  expect(ids()).toEqual(["good"]);
  expect(changes).toHaveBeenCalledTimes(1);
  await models.refresh();
  models.reconfigure();
  await models.refreshAnew();
  expect([ids(), told]).toEqual([["good"], ["The model 'odd' can't be used."]]);
  faults = "none";
  await models.refresh();
  expect([ids(), models.faulty]).toEqual([["odd", "good"], {}]);
});

test("settings that hold no models leave those that the process knows", async () => {
  const warn = vi.fn();
  const broken = () => {
    throw new Error("no object");
  };
  const log = { ...quiet, warn };
  const models = new Models(new Memory(), broken, async () => ({ models: [own("own")] }), log);
  await models.refresh();
  expect(models.list().map(({ id }) => id)).toEqual(["own"]);
  expect(warn).toHaveBeenCalledWith("no object");
});

test("secrets are variables of the process, and are listed by name alone", async () => {
  const secrets = new Secrets(new Vault(), new Memory());
  await secrets.set("B_KEY", "b");
  await secrets.set("A_KEY", "a");
  await secrets.set("A_KEY", "a2");
  expect(await secrets.names()).toEqual(["A_KEY", "B_KEY"]);
  await secrets.delete("B_KEY");
  expect(await secrets.environment()).toEqual({ A_KEY: "a2" });
});

const settings = {
  path: "",
  arguments: ["--x"],
  environment: { E: "1", KEY: "plain" },
  traceDirectory: "/t",
  endpoints: {},
};
const sources = {
  settings,
  secrets: { KEY: "s" },
  environment: { PATH: "/bin", KEY: "old", E: "0" },
  logLevel: "info",
  folder: "/project",
  programs: {
    onPath: async () => "/path/vscodelm",
    own: async () => "/own/vscodelm",
    install: async () => "/new/vscodelm",
  },
};

test("a launch has the folder, the secrets over the settings over the editor's own variables", async () => {
  expect(await launchOf(sources, false)).toEqual({
    command: "/path/vscodelm",
    args: ["--log-level", "info", "--trace-dir", "/t", "--x"],
    env: { PATH: "/bin", KEY: "s", E: "1", VSCODELM_SECRETS: "KEY" },
    cwd: "/project",
  });
});

test("the endpoints of the settings go to the program as they are, and none if there are none", async () => {
  const endpoints = { local: { open_responses: { baseUrl: "http://127.0.0.1:1/v1" } } };
  const { env } = await launchOf({ ...sources, settings: { ...settings, endpoints } }, false);
  expect(JSON.parse(env.VSCODELM_ENDPOINTS ?? "")).toEqual(endpoints);
  expect((await launchOf(sources, false)).env).not.toHaveProperty("VSCODELM_ENDPOINTS");
});

test("the program is that of the settings, or on PATH, or our own, or is asked for", async () => {
  const nowhere = async () => undefined;
  const find = async (change: object, programs: object, mayAsk: boolean) =>
    (
      await launchOf(
        {
          ...sources,
          settings: { ...settings, ...change },
          programs: { ...sources.programs, ...programs },
        },
        mayAsk,
      )
    ).command;
  expect(await find({ path: "/mine" }, {}, false)).toBe("/mine");
  expect(await find({}, { onPath: nowhere }, false)).toBe("/own/vscodelm");
  expect(await find({}, { onPath: nowhere, own: nowhere }, true)).toBe("/new/vscodelm");
  const missing = find({}, { onPath: nowhere, own: nowhere }, false);
  await expect(missing).rejects.toThrow("isn't installed");
  const refused = find({}, { onPath: nowhere, own: nowhere, install: nowhere }, true);
  await expect(refused).rejects.toMatchObject({ kind: "NotFound" });
});

test("a log line keeps its level, and what isn't one is a warning", () => {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  logLine(log, "time=10:00:00 level=INFO request=7 turn=3");
  logLine(log, "time=10:00:00 level=DEBUG d");
  logLine(log, "time=10:00:00 level=WARNING w");
  logLine(log, "time=10:00:00 level=ERROR e");
  logLine(log, "Traceback");
  expect(log.info).toHaveBeenCalledWith("request=7 turn=3");
  expect(log.debug).toHaveBeenCalledWith("d");
  expect(log.warn.mock.calls).toEqual([["w"], ["Traceback"]]);
  expect(log.error).toHaveBeenCalledWith("e");
});

test.each([
  [vscode.LogLevel.Trace, "debug"],
  [vscode.LogLevel.Debug, "debug"],
  [vscode.LogLevel.Info, "info"],
  [vscode.LogLevel.Warning, "warning"],
  [vscode.LogLevel.Error, "error"],
  [vscode.LogLevel.Off, "error"],
])("at the editor's level %d the process logs %s", (level, word) => {
  expect(logLevel(level)).toBe(word);
});

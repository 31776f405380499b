import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { addAgent, type Present } from "../../src/agents/add_agent.ts";
import { KNOWN_AGENTS, KNOWN_ENDPOINTS } from "../../src/agents/known_agents.ts";
import { ADDED_LISTED_WITHIN_MS } from "../../src/limits.ts";
import { keysOf } from "../../src/setup/key_names.ts";
import { Secrets } from "../../src/setup/secrets.ts";
import { Memory, Vault } from "../memory.ts";
import { AS_PROPOSED, chat, configure, openAnew, person, setting } from "../vscode.ts";

const MINE = { agent: { acp: { command: "mine" } } };
const OWN_LOGIN = "The agent's own login";

let secrets: Secrets;
/** Whether the editor lists what is added. */
let isListed: boolean;

beforeEach(() => {
  openAnew();
  configure("vscodelm.agents", { mine: MINE });
  secrets = new Secrets(new Vault(), new Memory());
  isListed = true;
  vscode.lm.registerLanguageModelChatProvider("vscodelm", {
    provideLanguageModelChatInformation: () =>
      (isListed ? [...Object.keys(agents()), "goose"] : []).map((id) => ({ id })) as never,
    provideLanguageModelChatResponse: async () => {},
    provideTokenCount: async () => 1,
  });
});

afterEach(() => {
  vi.useRealTimers();
});

const noRegistry = async () => {
  throw new Error("nobody asked for the registry");
};

function add(models: readonly Present[] = []): Promise<void> {
  return addAgent(secrets, models, noRegistry);
}

function agents(): Record<string, unknown> {
  return setting("vscodelm.agents") as Record<string, unknown>;
}

/** Return the keys that an agent of the settings refers to. */
function keysNamedBy(id: string): string[] {
  return keysOf(agents()[id]);
}

test("a known agent is added beside what is there, and its place is told", async () => {
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  person.presses = "Open Settings";
  await add();
  expect(agents()).toEqual({ mine: MINE, opencode: { registry: "opencode" } });
  expect(person.asked).toEqual([expect.stringContaining('"OpenCode" is among the models now')]);
  expect(person.ran.at(-1)).toEqual(["workbench.action.openSettings", "vscodelm.agents"]);
});

test("a chat with the new model opens, and nothing is sent in it", async () => {
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  await add();
  const modelSelector = { vendor: "vscodelm", id: "opencode" };
  expect(person.ran).toEqual([
    ["setContext", "vscodelm.hasAgent", true],
    ["workbench.action.chat.newChat"],
    ["workbench.action.chat.open", { query: "", isPartialQuery: true, modelSelector }],
  ]);
  expect(person.asked[0]).toContain("a new chat with it is open");
});

test("a model that the editor doesn't list is left to the picker", async () => {
  vi.useFakeTimers();
  isListed = false;
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  const added = add();
  await vi.advanceTimersByTimeAsync(ADDED_LISTED_WITHIN_MS);
  await added;
  expect(person.asked[0]).toContain("choose it in the chat's model picker");
  expect(chat.chats).toBe(0);
});

test("in an editor without a chat a model is added all the same", async () => {
  person.lacks = "workbench.action.chat.newChat";
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  await add();
  expect(agents()).toHaveProperty("opencode");
  expect(person.asked[0]).toContain("choose it in the chat's model picker");
});

test("everybody who is known can be chosen", async () => {
  await add();
  const names = [...KNOWN_AGENTS, ...KNOWN_ENDPOINTS].map(({ name }) => name);
  expect(person.lists[0]).toEqual(expect.arrayContaining(names));
});

test("a name is proposed, and an id with it; both are the person's to change", async () => {
  person.picks = ["OpenCode", "OpenCode"];
  person.types = ["My Köder!", AS_PROPOSED];
  await add();
  expect(person.boxes.map(({ value }) => value)).toEqual(["OpenCode", "my-k-der"]);
  person.types = [AS_PROPOSED, "open.code_2"];
  await add();
  expect(agents()).toEqual({
    mine: MINE,
    "my-k-der": { registry: "opencode", name: "My Köder!" },
    "open.code_2": { registry: "opencode" },
  });
});

test("names and ids that are there already aren't proposed again", async () => {
  configure("vscodelm.agents", { mine: MINE, "codex-2": MINE, gone: null });
  person.picks = ["Codex", OWN_LOGIN];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  await add([{ id: "codex", name: "Codex" }]);
  expect(agents()["codex-3"]).toEqual({ registry: "codex-acp", name: "Codex 2" });
  expect(person.asked).toHaveLength(1); // nothing is replaced
});

test.each(["", "-x", "a b", "ü", "a/b", "__proto__"])(
  "%j is no id, and another one can be typed",
  async (id) => {
    person.picks = ["OpenCode"];
    person.types = [AS_PROPOSED, id, "fine"];
    await add();
    expect(person.refused).toEqual([expect.stringContaining("Letters, digits")]);
    expect(Object.keys(agents())).toEqual(["mine", "fine"]);
  },
);

test("a blank is no name", async () => {
  person.picks = ["OpenCode"];
  person.types = ["  ", " Mine ", AS_PROPOSED];
  await add();
  expect(person.refused).toEqual(["A name is needed."]);
  expect(agents()["mine-2"]).toEqual({ registry: "opencode", name: "Mine" });
});

test.each([
  ["Replace", "mine", { registry: "opencode" }],
  [undefined, "mine", MINE],
  ["Replace", "constructor", { registry: "opencode" }], // nobody has that
])("pressing %s, the id %s is replaced only if the person says so", async (button, id, left) => {
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, id];
  person.presses = button;
  await add();
  const isThere = id === "mine";
  expect(person.asked[0] === 'There is a model "mine" already.').toBe(isThere);
  const said = await person.boxes[1]?.validateInput?.(id);
  expect(said ?? undefined).toEqual(
    isThere ? { severity: 2, message: expect.stringContaining("VS Code asks") } : undefined,
  );
  expect(agents()[id]).toEqual(left);
});

test("a model that isn't of the settings isn't replaced unasked either", async () => {
  person.picks = ["OpenCode"];
  person.types = [AS_PROPOSED, "far"];
  await add([{ id: "far", name: "Far" }]);
  expect(person.asked).toEqual(['There is a model "far" already.']);
  expect(agents()).toEqual({ mine: MINE });
});

test("any command can be an agent, with its arguments", async () => {
  person.picks = ["Another agent..."];
  person.types = [`  '/opt/My Tools/My_Agent.exe' --acp  --say "a \\"b\\" $HOME" '' `, AS_PROPOSED];
  person.types.push(AS_PROPOSED);
  await add();
  const acp = {
    command: "/opt/My Tools/My_Agent.exe",
    args: ["--acp", "--say", 'a "b" $HOME', ""],
  };
  expect(agents()["my-agent"]).toEqual({ name: "My_Agent", agent: { acp } });
});

test.each([
  [`agent "half`, "A quote isn't closed."],
  ["agent it's", "A quote isn't closed."],
  ["agent \\", "Nothing follows the last backslash."],
  ["", "A command is needed."],
  ["   ", "A command is needed."],
  ["''", "A command is needed."],
])("the box says what is wrong with %j", async (line, words) => {
  person.picks = ["Another agent..."];
  person.types = [line, "agent", AS_PROPOSED, AS_PROPOSED];
  await add();
  expect(person.refused).toEqual([words]);
  expect(agents().agent).toEqual({ name: "agent", agent: { acp: { command: "agent", args: [] } } });
});

test("a known endpoint is asked for its model and its key, which no setting holds", async () => {
  person.picks = ["OpenRouter"];
  person.types = ["some/Model:free", AS_PROPOSED, AS_PROPOSED, "a secret key"];
  await add();
  expect(agents()["openrouter-some-model-free"]).toEqual({
    name: "some/Model:free",
    detail: "OpenRouter",
    agent: {
      open_responses: {
        baseUrl: "https://openrouter.ai/api/v1",
        model: "some/Model:free",
        apiKeyEnv: "OPENROUTER_API_KEY",
      },
    },
  });
  const hidden = person.boxes.map(({ password }) => password);
  expect(hidden).toEqual([undefined, undefined, undefined, true]);
  expect(JSON.stringify(agents())).not.toContain("a secret key");
  expect(await secrets.environment()).toEqual({ OPENROUTER_API_KEY: "a secret key" });
});

test("a key may be set later", async () => {
  person.picks = ["OpenAI"];
  person.types = ["gpt-5.4", AS_PROPOSED, AS_PROPOSED, ""];
  await add();
  const { agent } = agents()["openai-gpt-5.4"] as { agent: object };
  expect(agent).toMatchObject({ open_responses: { apiKeyEnv: "OPENAI_API_KEY" } });
  expect(await secrets.names()).toEqual([]);
});

test.each([
  ["The key in OPENAI_API_KEY", "OPENAI_API_KEY", { OPENAI_API_KEY: "k" }],
  [
    "Another key...",
    "OPENAI_API_KEY_WORK",
    { OPENAI_API_KEY: "k", OPENAI_API_KEY_WORK: "another" },
  ],
])("where a key is kept already, it can be used or another one: %s", async (choice, name, kept) => {
  await secrets.set("OPENAI_API_KEY", "k");
  person.picks = ["OpenAI", choice];
  person.types = ["gpt-5.4", AS_PROPOSED, "work", "another"];
  await add();
  expect(agents().work).toMatchObject({ agent: { open_responses: { apiKeyEnv: name } } });
  expect(await secrets.environment()).toEqual(kept);
});

test("a key that is in the environment can be used, too", async () => {
  vi.stubEnv("OPENAI_API_KEY", "k");
  person.picks = ["OpenAI", "The key in OPENAI_API_KEY"];
  person.types = ["gpt-5.4", AS_PROPOSED, "work"];
  await add();
  vi.unstubAllEnvs();
  expect(agents().work).toMatchObject({
    agent: { open_responses: { apiKeyEnv: "OPENAI_API_KEY" } },
  });
});

test("a key in any variable that an agent reads is the one that it signs in with", async () => {
  await secrets.set("OPENAI_API_KEY", "k");
  vi.stubEnv("CODEX_API_KEY", "c");
  person.picks = ["Codex", "The key in OPENAI_API_KEY", "Codex", "Another key..."];
  person.types = [AS_PROPOSED, AS_PROPOSED];
  await add();
  person.types = [AS_PROPOSED, "work", "another"];
  await add();
  vi.unstubAllEnvs();
  expect(agents().codex).toEqual({ registry: "codex-acp" });
  expect(keysNamedBy("work")).toEqual(["CODEX_API_KEY_WORK"]);
  expect(person.lists.flat()).not.toContain(OWN_LOGIN);
});

test("two entries of one agent have keys of their own, and neither is given the other's", async () => {
  person.picks = ["Claude Code", "A key (ANTHROPIC_API_KEY)..."];
  person.types = [AS_PROPOSED, AS_PROPOSED, "first"];
  await add();
  person.picks = ["Claude Code", "Another key..."];
  person.types = [AS_PROPOSED, AS_PROPOSED, "second"];
  await add([{ id: "claude-code", name: "Claude Code" }]);
  expect(agents()["claude-code"]).toEqual({ registry: "claude-acp" });
  const variable = "ANTHROPIC_API_KEY_CLAUDE_CODE_2";
  const env = { ANTHROPIC_API_KEY: `\${secret:${variable}}` };
  expect(agents()["claude-code-2"]).toEqual({ registry: "claude-acp", name: "Claude Code 2", env });
  expect(await secrets.environment()).toEqual({ ANTHROPIC_API_KEY: "first", [variable]: "second" });
  expect(keysNamedBy("claude-code")).toContain("ANTHROPIC_API_KEY");
  expect(keysNamedBy("claude-code-2")).toEqual([variable]);
});

test("a key of its own overwrites no other that is kept", async () => {
  await secrets.set("OPENAI_API_KEY", "k");
  await secrets.set("OPENAI_API_KEY_WORK", "w");
  person.picks = ["OpenAI", "Another key..."];
  person.types = ["gpt-5.4", AS_PROPOSED, "work", "another"];
  await add();
  expect(await secrets.environment()).toMatchObject({
    OPENAI_API_KEY_WORK: "w",
    OPENAI_API_KEY_WORK_2: "another",
  });
});

test.each([
  ["", {}],
  ["MY_KEY", { apiKeyEnv: "MY_KEY" }],
])("another endpoint has the key that is named: %j", async (name, key) => {
  person.picks = ["Another endpoint..."];
  person.types = ["http://127.0.0.1:1/v1", name, "small", AS_PROPOSED, AS_PROPOSED, ""];
  await add();
  const endpoint = { baseUrl: "http://127.0.0.1:1/v1", model: "small", ...key };
  expect(agents()["endpoint-small"]).toEqual({
    name: "small",
    detail: "endpoint",
    agent: { open_responses: endpoint },
  });
});

test.each(["sk-proj-1234", "a b", "A=B"])("%j is taken for no variable's name", async (typed) => {
  person.picks = ["Another endpoint..."];
  person.types = ["http://127.0.0.1:1/v1", typed, "KEY", "small", AS_PROPOSED, AS_PROPOSED, ""];
  await add();
  expect(person.refused).toEqual([expect.stringContaining("as variables are named")]);
  expect(JSON.stringify(agents())).not.toContain(typed);
});

test.each([
  [[], []],
  [["OpenCode"], []],
  [["OpenCode"], ["name"]],
  [["Claude Code"], ["name", "id"]],
  [
    ["Claude Code", "A key (ANTHROPIC_API_KEY)..."],
    ["name", "id"],
  ],
  [["Another agent..."], []],
  [["Another agent..."], ["agent --acp"]],
  [["Another agent..."], ["agent --acp", "name"]],
  [["Another endpoint..."], []],
  [["Another endpoint..."], ["http://127.0.0.1/v1"]],
  [["Another endpoint..."], ["http://127.0.0.1/v1", "KEY"]],
  [["OpenAI"], []],
  [["OpenAI"], ["gpt", "name", "id"]],
])("who leaves after %j and %j has changed nothing", async (picks, types) => {
  person.picks = picks;
  person.types = types;
  await add();
  expect(agents()).toEqual({ mine: MINE });
  expect(person.asked).toEqual([]);
  expect(await secrets.names()).toEqual([]);
});

test("who doesn't replace a model keeps no key for it either", async () => {
  person.picks = ["OpenAI"];
  person.types = ["gpt", AS_PROPOSED, "mine", "a key"];
  await add();
  expect(agents()).toEqual({ mine: MINE });
  expect(await secrets.names()).toEqual([]);
});

test.each([
  ["goose", [expect.stringContaining('"goose" is among the models now, and a new chat')]],
  [undefined, []],
])(
  "from the whole registry %s is added, which no setting of the editor's tells",
  async (id, told) => {
    person.picks = ["More from the registry..."];
    await addAgent(secrets, [], async () => id);
    expect(person.asked).toEqual(told);
    expect(agents()).toEqual({ mine: MINE });
  },
);

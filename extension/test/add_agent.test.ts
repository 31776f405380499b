import { beforeEach, expect, test } from "vitest";
import { addAgent, idOf } from "../src/add_agent.ts";
import { KNOWN_AGENTS, KNOWN_ENDPOINTS } from "../src/known_agents.ts";
import { Secrets } from "../src/secrets.ts";
import { Memory, Vault } from "./memory.ts";
import { configure, openAnew, person, setting } from "./vscode.ts";

const MINE = { agent: { acp: { command: "mine" } } };

let secrets: Secrets;

beforeEach(() => {
  openAnew();
  configure("vscodelm.agents", { mine: MINE });
  secrets = new Secrets(new Vault(), new Memory());
});

const noRegistry = async () => {
  throw new Error("nobody asked for the registry");
};

function agents(): Record<string, unknown> {
  return setting("vscodelm.agents") as Record<string, unknown>;
}

test("a known agent is added beside what is there, and its place is told", async () => {
  person.picks = ["OpenCode"];
  person.presses = "Open Settings";
  await addAgent(secrets, noRegistry);
  expect(agents()).toEqual({ mine: MINE, opencode: { registry: "opencode" } });
  expect(person.asked).toEqual([expect.stringContaining('"opencode" is among the models now')]);
  expect(person.ran).toEqual([["workbench.action.openSettings", "vscodelm.agents"]]);
});

test("everybody who is known can be chosen", async () => {
  await addAgent(secrets, noRegistry);
  const names = [...KNOWN_AGENTS, ...KNOWN_ENDPOINTS].map(({ name }) => name);
  expect(person.lists[0]).toEqual(expect.arrayContaining(names));
});

test.each([
  ["Replace", { registry: "codex-acp" }],
  [undefined, MINE],
])("who is there already is replaced only by somebody who presses %s", async (button, left) => {
  configure("vscodelm.agents", { "codex-acp": MINE });
  person.picks = ["Codex"];
  person.presses = button;
  await addAgent(secrets, noRegistry);
  expect(person.asked[0]).toBe('There is a model "codex-acp" already.');
  expect(agents()).toEqual({ "codex-acp": left });
});

test("any command can be an agent, with its arguments", async () => {
  person.picks = ["Another agent..."];
  person.types = ["  /opt/My_Agent --acp  --fast ", "my-agent"];
  await addAgent(secrets, noRegistry);
  const acp = { command: "/opt/My_Agent", args: ["--acp", "--fast"] };
  expect(agents()["my-agent"]).toEqual({ agent: { acp } });
  expect(person.boxes[1]?.value).toBe("my-agent"); // it is proposed
});

test("a known endpoint is asked for its model and its key, which no setting holds", async () => {
  person.picks = ["OpenRouter"];
  person.types = ["some/Model:free", "a secret key"];
  await addAgent(secrets, noRegistry);
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
  expect(person.boxes.map(({ password }) => password)).toEqual([undefined, true]);
  expect(JSON.stringify(agents())).not.toContain("a secret key");
  expect(await secrets.environment()).toEqual({ OPENROUTER_API_KEY: "a secret key" });
});

test("a key that is kept already isn't asked for", async () => {
  await secrets.set("OPENAI_API_KEY", "k");
  person.picks = ["OpenAI"];
  person.types = ["gpt-5.4"];
  await addAgent(secrets, noRegistry);
  expect(person.boxes).toHaveLength(1);
  expect(agents()).toHaveProperty(["openai-gpt-5.4"]);
});

test.each([
  ["", {}],
  ["MY_KEY", { apiKeyEnv: "MY_KEY" }],
])("another endpoint has the key that is named: %j", async (name, key) => {
  person.picks = ["Another endpoint..."];
  person.types = ["http://127.0.0.1:1/v1", name, "small"];
  await addAgent(secrets, noRegistry);
  const endpoint = { baseUrl: "http://127.0.0.1:1/v1", model: "small", ...key };
  expect(agents()["endpoint-small"]).toMatchObject({ agent: { open_responses: endpoint } });
});

test.each([
  [[], []],
  [["Another agent..."], []],
  [["Another agent..."], ["agent --acp"]],
  [["Another endpoint..."], []],
  [["Another endpoint..."], ["http://127.0.0.1/v1", "KEY"]],
  [["OpenAI"], []],
])("who leaves after %j and %j has changed nothing", async (picks, types) => {
  person.picks = picks;
  person.types = types;
  await addAgent(secrets, noRegistry);
  expect(agents()).toEqual({ mine: MINE });
  expect(person.asked).toEqual([]);
  expect(await secrets.names()).toEqual([]);
});

test.each([
  ["goose", ['"goose" is among the models now: choose it in the chat\'s model picker.']],
  [undefined, []],
])(
  "from the whole registry %s is added, which no setting of the editor's tells",
  async (id, told) => {
    person.picks = ["More from the registry..."];
    await addAgent(secrets, async () => id);
    expect(person.asked).toEqual(told);
    expect(agents()).toEqual({ mine: MINE });
  },
);

test.each([
  ["/usr/bin/My Agent", "my-agent"],
  ["openai-gpt-5.4", "openai-gpt-5.4"],
  ["ollama-gpt-oss:20b", "ollama-gpt-oss-20b"],
])("%s gives the id %s", (name, id) => {
  expect(idOf(name)).toBe(id);
});

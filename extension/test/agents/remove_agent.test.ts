import { beforeEach, expect, test } from "vitest";
import type { Present } from "../../src/agents/add_agent.ts";
import { provisional } from "../../src/agents/agents.ts";
import { removeAgent } from "../../src/agents/remove_agent.ts";
import { configuredModels } from "../../src/configuration.ts";
import { keysOf } from "../../src/setup/key_names.ts";
import { Secrets } from "../../src/setup/secrets.ts";
import { Memory, Vault } from "../memory.ts";
import { configure, env, openAnew, person, setting } from "../vscode.ts";

const CLAUDE = { registry: "claude-acp" };
const SECOND = { registry: "claude-acp", env: { ANTHROPIC_API_KEY: "${secret:SECOND}" } };
const endpoint = (apiKeyEnv: string) => ({
  agent: { open_responses: { baseUrl: "http://x", model: "m", apiKeyEnv } },
});
const DELETE = "Remove, Delete Its Key";
const KEEP = "Remove, Keep Its Key";

let secrets: Secrets;

beforeEach(() => {
  openAnew();
  secrets = new Secrets(new Vault(), new Memory());
});

/** Return the models that can be picked, as the extension lists them. */
function models(): Present[] {
  const named = configuredModels().models.map((model) => ({
    id: model.id,
    name: provisional(model).name,
  }));
  return [...named, { id: "far", name: "Far" }];
}

function remove(): Promise<boolean> {
  return removeAgent(secrets, models());
}

test("all models can be removed, those of the settings first", async () => {
  configure("vscodelm.agents", { claude: CLAUDE, broken: { registry: "nobody" }, gone: null });
  expect(await remove()).toBe(false);
  expect(person.lists).toEqual([["Claude Code", "broken", "Eliza", "Far"]]);
  expect(person.asked).toEqual([]);
});

test("an entry is removed from where it stands, and others stay", async () => {
  configure("vscodelm.agents", { claude: CLAUDE, broken: { registry: "nobody" }, gone: null });
  person.picks = ["broken"];
  person.presses = "Remove";
  expect(await remove()).toBe(true);
  expect(setting("vscodelm.agents")).toEqual({ claude: CLAUDE, gone: null });
  expect(person.asked).toEqual([
    'Remove "broken" from the models?',
    '"broken" was removed from the models.',
  ]);
});

test.each([
  ["Eliza", "eliza"],
  ["Far", "far"],
])("what would be there all the same is hidden: %s", async (name, id) => {
  configure("vscodelm.agents", { claude: CLAUDE });
  person.picks = [name];
  person.presses = "Remove";
  expect(await remove()).toBe(true);
  expect(setting("vscodelm.agents")).toEqual({ claude: CLAUDE, [id]: null });
  expect(configuredModels().hidden).toEqual([id]);
});

test("an entry over the default is hidden, or the default would come back", async () => {
  configure("vscodelm.agents", { eliza: { name: "Mine", agent: { eliza: {} } } });
  person.picks = ["Mine"];
  person.presses = "Remove";
  await remove();
  expect(setting("vscodelm.agents")).toEqual({ eliza: null });
});

test("in a remote window it is removed there", async () => {
  openAnew({ isRemote: true });
  env.remoteName = "ssh-remote";
  configure("vscodelm.agents", { claude: CLAUDE }, "machine");
  person.picks = ["Claude Code"];
  person.presses = "Remove";
  await remove();
  env.remoteName = undefined;
  expect(setting("vscodelm.agents", "machine")).toEqual({});
  expect(setting("vscodelm.agents")).toBeUndefined();
});

test("who doesn't confirm has removed nothing", async () => {
  configure("vscodelm.agents", { claude: CLAUDE });
  await secrets.set("ANTHROPIC_API_KEY", "k");
  person.picks = ["Claude Code"];
  person.presses = "Remove"; // there is no such button where there is a key
  expect(await remove()).toBe(false);
  expect(setting("vscodelm.agents")).toEqual({ claude: CLAUDE });
});

test.each([
  [DELETE, []],
  [KEEP, ["SECOND"]],
])("the key of this model alone is asked about: %s", async (button, left) => {
  configure("vscodelm.agents", { second: SECOND });
  await secrets.set("SECOND", "2");
  person.picks = ["Claude Code"];
  person.presses = button;
  expect(await remove()).toBe(true);
  expect(await secrets.names()).toEqual(left);
});

test("a key that another model uses stays, and nobody asks", async () => {
  configure("vscodelm.agents", { one: endpoint("KEY"), two: endpoint("KEY") });
  await secrets.set("KEY", "k");
  person.picks = ["one"];
  person.presses = "Remove";
  expect(await remove()).toBe(true);
  expect(await secrets.names()).toEqual(["KEY"]);
});

test.each<[unknown, string[]]>([
  [null, []],
  [{ registry: "opencode" }, []],
  [{ registry: "codex-acp" }, ["CODEX_API_KEY", "OPENAI_API_KEY"]],
  [{ registry: "codex-acp", env: { OPENAI_API_KEY: "${secret:MINE}" } }, ["MINE"]],
  [{ registry: "opencode", env: { A: "Bearer ${secret:X} ${secret:Y}" } }, ["X", "Y"]],
  [endpoint("KEY"), ["KEY"]],
  [{ agent: { acp: { command: "x", env: [{ name: "A", value: "${secret:Z}" }] } } }, ["Z"]],
])("the keys of %j are %j", (entry, keys) => {
  expect(keysOf(entry)).toEqual(keys);
});

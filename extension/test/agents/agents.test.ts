import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { kindOf, provisional, readAgents } from "../../src/agents/agents.ts";
import { KNOWN_AGENTS } from "../../src/agents/known_agents.ts";
import { fillIn } from "../../src/agents/variables.ts";

const variables = { workspaceFolder: "/project", userHome: "/home/me", env: { KEY: "k" } };
const read = (setting: Record<string, unknown>, defaults = {}) =>
  readAgents(setting, defaults, variables);
const one = (entry: unknown) => {
  const [model] = read({ mine: entry }).models;
  if (model === undefined) {
    throw new Error("it is hidden");
  }
  return model;
};
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const { properties } = manifest.contributes.configuration;

test("by default there is Eliza", () => {
  const { models, hidden } = read(properties["vscodelm.agents"].default);
  expect(models).toEqual([{ id: "eliza", agent: { eliza: {} }, settings: {}, shown: {} }]);
  expect(models.map(provisional)).toEqual([
    {
      ...{ id: "eliza", name: "Eliza", family: "eliza", version: "1" },
      ...{ maxInputTokens: 1_000_000, maxOutputTokens: 64_000 },
      capabilities: { toolCalling: true, imageInput: false },
    },
  ]);
  expect(hidden).toEqual([]);
});

test("a ready agent is sent by its id, with what its entry adds", () => {
  expect(one({ registry: "opencode" }).agent).toEqual({ registry: "opencode" });
  const added = { args: ["--print-logs"], env: { A: "${env:KEY}" } };
  expect(one({ registry: "opencode", ...added }).agent).toEqual({
    registry: "opencode",
    args: ["--print-logs"],
    env: { A: "k" },
  });
});

test("until the program answers, a ready agent has the name that it is listed by", () => {
  for (const { id, name } of KNOWN_AGENTS) {
    expect(provisional(one({ registry: id })).name).toBe(name);
  }
  expect(provisional(one({ registry: "claude-code-acp" })).name).toBe("Claude Code");
  expect(provisional(one({ registry: "gemini", name: "Mine" })).name).toBe("Mine");
  expect(provisional(one({ registry: "nobody", name: "" })).name).toBe("mine");
});

test("a definition is sent as it is, with variables filled in", () => {
  const acp = {
    command: "${userHome}/bin/agent",
    args: ["${workspaceFolder}", "$HOME"],
    env: { A: "1" },
    cwd: "${workspaceFolder}/sub",
  };
  expect(one({ agent: { acp } }).agent).toEqual({
    acp: {
      command: "/home/me/bin/agent",
      args: ["/project", "$HOME"],
      env: { A: "1" },
      cwd: "/project/sub",
    },
  });
  const endpoint = { baseUrl: "http://127.0.0.1/v1", model: "m", reasoning: { effort: "high" } };
  expect(one({ agent: { open_responses: endpoint } }).agent).toEqual({ open_responses: endpoint });
});

test("an entry that only excludes tools has the rest of `tools` as all entries have it", () => {
  const tools = { duplicates: "leave_out", exclude: [], include: ["*"] };
  const settings = (own: unknown, all: Record<string, unknown> = { tools }) =>
    read({ mine: { settings: { tools: own } } }, all).models[0]?.settings;
  expect(settings({ exclude: ["run_*"] })).toEqual({ tools: { ...tools, exclude: ["run_*"] } });
  expect(settings({ duplicates: "offer" })).toEqual({ tools: { ...tools, duplicates: "offer" } });
  expect(settings("none")).toEqual({ tools: "none" }); // the program says what is wrong
  expect(settings({ include: [] }, {})).toEqual({ tools: { include: [] } });
});

test("the settings of an entry win over those of all, and the rest of it says how it is shown", () => {
  const shown = { name: "E", tooltip: "t", maxInputTokens: "many", imageInput: true };
  const entry = {
    agent: { eliza: {} },
    enabled: true,
    settings: { permissions: "deny" },
    ...shown,
  };
  const [model] = read({ e: entry }, { permissions: "ask", thinking: "part" }).models;
  expect(model).toEqual({
    id: "e",
    agent: { eliza: {} },
    settings: { permissions: "deny", thinking: "part" },
    shown,
  });
});

test("null and `enabled: false` take a model out of the list", () => {
  const { models, hidden } = read({ a: null, b: { enabled: false, agent: 1 } });
  expect([models, hidden]).toEqual([[], ["a", "b"]]);
});

test.each([
  [1, { agent: 1, settings: {} }],
  [{}, { agent: {}, settings: {} }],
  [{ registry: 3 }, { agent: { registry: 3 }, settings: {} }],
  [
    { registry: "gemini", agent: { eliza: {} } },
    { agent: { registry: "gemini", eliza: {} }, settings: {} },
  ],
  [
    { registry: "gemini", agent: 1 },
    { agent: { registry: "gemini" }, settings: {} },
  ],
  [{ agent: [] }, { agent: [], settings: {} }],
  [{ agent: { acp: 1 } }, { agent: { acp: 1 }, settings: {} }],
  [
    { agent: { eliza: {} }, settings: 5 },
    { agent: { eliza: {} }, settings: 5 },
  ],
])("%j is sent as it is, for the program to say what is wrong", (entry, sent) => {
  expect(one(entry)).toEqual({ id: "mine", shown: {}, ...sent });
});

test.each([
  [{ registry: "gemini" }, "acp"],
  [{ agent: { acp: {} } }, "acp"],
  [{ agent: { open_responses: {} } }, "open_responses"],
  [{ agent: {} }, undefined],
  [1, undefined],
])("the kind of %j is %s", (entry, kind) => {
  expect(kindOf(one(entry))).toBe(kind);
});

test("a variable that isn't set is empty, and what isn't one stays", () => {
  expect(fillIn("${env:NONE}|${nothing}|${userHome}", variables)).toBe("|${nothing}|/home/me");
  expect(fillIn({ a: [1, null, "${workspaceFolder}"] }, variables)).toEqual({
    a: [1, null, "/project"],
  });
});

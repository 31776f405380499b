import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEFAULT_INPUT_TOKENS, readAgents } from "../../src/agents/agents.ts";
import { KNOWN_AGENTS } from "../../src/agents/known_agents.ts";
import { fillIn } from "../../src/agents/variables.ts";

const variables = { workspaceFolder: "/project", userHome: "/home/me", env: { KEY: "k" } };
const read = (setting: unknown, defaults = {}) => readAgents(setting, defaults, variables);
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const { properties } = manifest.contributes.configuration;

test("by default there is Eliza, and nothing is wrong", () => {
  const { models, faults } = read(properties["vscodelm.agents"].default);
  expect(faults).toEqual([]);
  expect(models).toEqual([
    {
      information: {
        id: "eliza",
        name: "Eliza",
        family: "eliza",
        version: "1",
        maxInputTokens: DEFAULT_INPUT_TOKENS,
        maxOutputTokens: 64_000,
        capabilities: { toolCalling: true, imageInput: false },
      },
      agent: { eliza: {} },
      hasLimit: false,
      settings: {},
    },
  ]);
});

test("each ready entry is a program with arguments, and the settings offer all of them", () => {
  const ids = KNOWN_AGENTS.map(({ id }) => id);
  const { models, faults } = read(Object.fromEntries(ids.map((id) => [id, { registry: id }])));
  expect(faults).toEqual([]);
  expect(models.map(({ information }) => information.name)).toEqual(
    KNOWN_AGENTS.map(({ name }) => name),
  );
  for (const { agent } of models) {
    expect(agent).toMatchObject({ acp: { command: "npx", args: expect.arrayContaining(["-y"]) } });
  }
  const entry = properties["vscodelm.agents"].additionalProperties;
  expect(entry.properties.registry.anyOf[0].enum).toEqual(expect.arrayContaining(ids));
  expect(
    entry.defaultSnippets.flatMap(
      ({ body }: { body: { registry?: string } }) => body.registry ?? [],
    ),
  ).toEqual(ids);
});

test("an agent is known by its older id, too", () => {
  const [model] = read({ cc: { registry: "claude-code-acp" } }).models;
  expect(model?.information.name).toBe("Claude Code");
});

test("arguments and variables are added to a ready entry", () => {
  const [model] = read({
    oc: { registry: "opencode", args: ["--print-logs"], env: { A: "${env:KEY}" } },
  }).models;
  expect(model?.agent).toEqual({
    acp: {
      name: "OpenCode",
      command: "npx",
      args: ["-y", "opencode-ai@1.18.33", "acp", "--print-logs"],
      env: [{ name: "A", value: "k" }],
    },
  });
});

test("a ready entry names the secrets that its agent may have", () => {
  const [model] = read({ g: { registry: "gemini", env: { A: "1" } } }).models;
  expect(model?.agent).toMatchObject({
    acp: {
      env: [
        { name: "GEMINI_API_KEY", value: "${secret:GEMINI_API_KEY}" },
        { name: "GOOGLE_API_KEY", value: "${secret:GOOGLE_API_KEY}" },
        { name: "A", value: "1" },
      ],
    },
  });
});

test("a ready entry with a key of its own is given no other key", () => {
  const env = { GOOGLE_API_KEY: "${secret:MINE}" };
  const [model] = read({ g: { registry: "gemini", env } }).models;
  expect(model?.agent).toMatchObject({
    acp: { env: [{ name: "GOOGLE_API_KEY", value: "${secret:MINE}" }] },
  });
});

test("a command is taken as it is, with variables filled in", () => {
  const [model] = read({
    mine: {
      agent: {
        acp: {
          command: "${userHome}/bin/agent",
          args: ["${workspaceFolder}", "$HOME"],
          env: [{ name: "A", value: "1" }],
          cwd: "${workspaceFolder}/sub",
        },
      },
    },
  }).models;
  expect(model?.agent).toEqual({
    acp: {
      name: "mine",
      command: "/home/me/bin/agent",
      args: ["/project", "$HOME"],
      env: [{ name: "A", value: "1" }],
      cwd: "/project/sub",
    },
  });
});

test("an endpoint goes whole, with options that this version doesn't know", () => {
  const endpoint = { baseUrl: "http://127.0.0.1/v1", model: "m", reasoning: { effort: "high" } };
  const [model] = read({ e: { agent: { open_responses: endpoint } } }).models;
  expect(model?.agent).toEqual({ open_responses: endpoint });
  expect(model?.information.capabilities.imageInput).toBe(true);
});

test("what an entry says wins over what is said for all", () => {
  const defaults = { permissions: "ask", thinking: "part" };
  const entry = {
    agent: { eliza: {} },
    name: "E",
    family: "f",
    version: "2",
    tooltip: "t",
    detail: "d",
    maxInputTokens: 5,
    maxOutputTokens: 6,
    toolCalling: false,
    imageInput: true,
    settings: { permissions: "deny" },
  };
  const [model] = read({ e: entry }, defaults).models;
  expect(model?.settings).toEqual({ permissions: "deny", thinking: "part" });
  expect(model?.information).toEqual({
    id: "e",
    name: "E",
    family: "f",
    version: "2",
    tooltip: "t",
    detail: "d",
    maxInputTokens: 5,
    maxOutputTokens: 6,
    capabilities: { toolCalling: false, imageInput: true },
  });
});

test("null and `enabled: false` take a model out of the list", () => {
  const { models, hidden, faults } = read({ a: null, b: { enabled: false, agent: 1 } });
  expect([models, hidden, faults]).toEqual([[], ["a", "b"], []]);
});

test.each([
  [1, "it must be an object"],
  [{}, "it needs `registry` or `agent`"],
  [{ registry: "nobody" }, 'there is no ready entry for "nobody". There are: claude-acp, '],
  [{ registry: "gemini", agent: { eliza: {} } }, "it has both"],
  [{ agent: {} }, "exactly one of"],
  [{ agent: { eliza: {}, acp: {} } }, "exactly one of"],
  [{ agent: { robot: {} } }, "exactly one of"],
  [{ agent: { acp: 1 } }, "`agent.acp` must be an object"],
  [{ agent: { acp: {} } }, "`agent.acp` needs a `command`"],
])("%j is told to be wrong, and costs no other entry", (entry, complaint) => {
  const { models, faults } = read({ bad: entry, eliza: { agent: { eliza: {} } } });
  expect(models.map(({ information }) => information.id)).toEqual(["eliza"]);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain(complaint);
});

test("a setting that is no object is told", () => {
  expect(read([]).faults).toHaveLength(1);
});

test("a variable that isn't set is empty, and what isn't one stays", () => {
  expect(fillIn("${env:NONE}|${nothing}|${userHome}", variables)).toBe("|${nothing}|/home/me");
  expect(fillIn({ a: [1, null, "${workspaceFolder}"] }, variables)).toEqual({
    a: [1, null, "/project"],
  });
});

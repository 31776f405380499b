import { beforeEach, expect, test } from "vitest";
import { keptAs, nameKey, withKey } from "../../src/setup/key_names.ts";
import { configure, openAnew, setting } from "../vscode.ts";

const KEY = "${secret:KEY}";

beforeEach(() => openAnew());

test("the entry of an agent names its key, in the way in which it names others", () => {
  expect(withKey({ agent: { acp: { command: "x" } } }, "KEY")).toEqual({
    agent: { acp: { command: "x", env: { KEY } } },
  });
  expect(withKey({ agent: { mcp_server: { command: "x", env: { A: "1" } } } }, "KEY")).toEqual({
    agent: { mcp_server: { command: "x", env: { A: "1", KEY } } },
  });
  const list = [{ name: "A", value: "1" }];
  expect(withKey({ agent: { acp: { command: "x", env: list } } }, "KEY")).toEqual({
    agent: { acp: { command: "x", env: [...list, { name: "KEY", value: KEY }] } },
  });
  expect(withKey({ registry: "opencode" }, "KEY")).toEqual({ registry: "opencode", env: { KEY } });
});

test("an entry that names it already, or needs no name, stays as it is", () => {
  expect(withKey({ registry: "codex-acp" }, "CODEX_API_KEY")).toBeUndefined();
  expect(withKey({ registry: "opencode", env: { KEY: "x" } }, "KEY")).toBeUndefined();
  expect(withKey({ agent: { acp: { command: "x", env: { KEY: "x" } } } }, "KEY")).toBeUndefined();
  const list = [{ name: "KEY", value: "x" }];
  expect(withKey({ agent: { acp: { command: "x", env: list } } }, "KEY")).toBeUndefined();
  expect(withKey({ agent: { open_responses: { apiKeyEnv: "KEY" } } }, "KEY")).toBeUndefined();
  expect(withKey({ agent: 3 }, "KEY")).toBeUndefined();
  expect(withKey(null, "KEY")).toBeUndefined();
});

test("the user's own settings are changed, and no other entry", async () => {
  const other = { agent: { eliza: {} } };
  configure("vscodelm.agents", { other, mine: { agent: { acp: { command: "x" } } } });
  await nameKey("mine", "KEY");
  await nameKey("nobody", "KEY");
  expect(setting("vscodelm.agents")).toEqual({
    other,
    mine: { agent: { acp: { command: "x", env: { KEY } } } },
  });
});

test("an entry with one key of its own is given no other, so another one must be named", () => {
  const env = { CODEX_API_KEY: "${secret:MINE}" };
  expect(withKey({ registry: "codex-acp", env }, "CODEX_API_KEY")).toBeUndefined();
  expect(withKey({ registry: "codex-acp", env }, "OPENAI_API_KEY")).toEqual({
    registry: "codex-acp",
    env: { ...env, OPENAI_API_KEY: "${secret:OPENAI_API_KEY}" },
  });
});

test.each<[string, unknown, string]>([
  ["a ready entry", { registry: "codex-acp", env: { KEY: "${secret:MINE}" } }, "MINE"],
  ["a command", { agent: { acp: { command: "x", env: { KEY: "${secret:MINE}" } } } }, "MINE"],
  [
    "a list",
    { agent: { mcp_server: { env: [null, { name: "KEY", value: "${secret:MINE}" }] } } },
    "MINE",
  ],
  ["no secret", { registry: "codex-acp", env: { KEY: "x ${secret:MINE}" } }, "KEY"],
  ["another variable", { registry: "codex-acp", env: { OTHER: "${secret:MINE}" } }, "KEY"],
  ["nothing", undefined, "KEY"],
])("a key is kept under the name that its entry refers to: %s", (_, entry, name) => {
  configure("vscodelm.agents", { mine: entry });
  expect(keptAs("mine", "KEY")).toBe(name);
});

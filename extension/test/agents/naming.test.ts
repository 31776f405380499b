import { expect, test } from "vitest";
import { idOf, ownVariable, programName, unique, whyNoId } from "../../src/agents/naming.ts";

test.each([
  ["My Agent", "my-agent"],
  ["openai-gpt-5.4", "openai-gpt-5.4"],
  ["ollama-gpt-oss:20b", "ollama-gpt-oss-20b"],
  ["...a...", "a"],
  ["-.-", "agent"],
  ["代理", "agent"],
  ["", "agent"],
])("%j gives the id %s, which is one", (name, id) => {
  expect(idOf(name)).toBe(id);
  expect(whyNoId(id)).toBeUndefined();
});

test.each([
  ["/usr/bin/agent", "agent"],
  ["C:\\Program Files\\Agent.EXE", "Agent"],
  ["agent.cmd", "agent"],
  ["/usr/bin/", "bin"],
  ["/", "/"],
])("the program %j is called %j", (command, name) => {
  expect(programName(command)).toBe(name);
});

test("a name that is taken has a number", () => {
  expect(unique("a", [], "-")).toBe("a");
  expect(unique("a", ["a", "a-2", "a-4"], "-")).toBe("a-3");
});

test("a model's own variable is one, and nobody else's", () => {
  expect(ownVariable("KEY", "my.own-x_1", [])).toBe("KEY_MY_OWN_X_1");
  expect(ownVariable("KEY", "x", ["KEY_X"])).toBe("KEY_X_2");
});

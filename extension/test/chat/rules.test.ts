import { expect, test } from "vitest";
import { LASTING_KINDS } from "../../src/chat/permission.ts";
import { digestOf, type KnownRule, Rules } from "../../src/chat/rules.ts";
import { Memory } from "../memory.ts";
import { asker } from "../questions.ts";

function rule(more: Partial<KnownRule> = {}): KnownRule {
  return {
    ...asker,
    kind: "execute",
    action: undefined,
    command: undefined,
    isForGood: true,
    ...more,
  };
}

test("what is allowed for good outlives the window, the rest doesn't", async () => {
  const memory = new Memory();
  const rules = new Rules(memory);
  await rules.add(rule());
  await rules.add(rule({ kind: "edit", isForGood: false }));
  await rules.add(rule({ kind: "edit", isForGood: false }));
  expect(rules.allowed(asker)).toEqual([{ kind: "execute" }, { kind: "edit" }]);
  expect(new Rules(memory).allowed(asker)).toEqual([{ kind: "execute" }]);
});

test("one command is allowed by what names it", async () => {
  const rules = new Rules(new Memory());
  await rules.add(rule({ action: "abc", command: "ls" }));
  expect(rules.allowed(asker)).toEqual([{ kind: "execute", action: "abc" }]);
});

test("a rule is for one agent, and not for another command or address under its name", async () => {
  const rules = new Rules(new Memory());
  await rules.add(rule());
  await rules.add(rule({ kind: "edit", isForGood: false }));
  expect(rules.allowed({ ...asker, definition: "d2" })).toEqual([]);
  expect(rules.allowed({ ...asker, definition: undefined })).toEqual([]);
  expect(rules.allowed({ ...asker, id: "other" })).toEqual([]);
  expect(rules.allowed({ ...asker, name: "renamed" })).toHaveLength(2);
});

test("a rule is taken back, and no other", async () => {
  const rules = new Rules(new Memory());
  const all = [rule(), rule({ action: "abc" }), rule({ isForGood: false })];
  for (const one of all) {
    await rules.add(one);
  }
  for (const [at, one] of rules.list().entries()) {
    await rules.remove(one);
    expect(rules.list()).toHaveLength(all.length - at - 1);
  }
});

test("what has no name of its own, or no definition, is never allowed for good", async () => {
  const rules = new Rules(new Memory());
  for (const kind of ["other", "switch_mode", "anything"]) {
    expect(kind in LASTING_KINDS).toBe(false);
    await expect(rules.add(rule({ kind }))).rejects.toThrow("only once");
  }
  await expect(rules.add(rule({ definition: undefined }))).rejects.toThrow("for good");
  expect(rules.list()).toEqual([]);
});

test("a definition is known by all that it says, in any order", () => {
  const one = digestOf({ acp: { command: "a", args: ["b", "c"] } });
  expect(digestOf({ acp: { args: ["b", "c"], command: "a" } })).toBe(one);
  for (const acp of [
    { command: "x", args: ["b", "c"] },
    { command: "a", args: ["c", "b"] },
    { command: "a", args: ["b", "c"], cwd: "/" },
  ]) {
    expect(digestOf({ acp })).not.toBe(one);
  }
  expect(digestOf({ mcp_server: { command: "a", args: ["b", "c"] } })).not.toBe(one);
});

import { expect, test } from "vitest";
import { compiled, matches } from "../../src/elicitation/pattern.ts";
import { PATTERN_MS } from "../../src/limits.ts";

test.each([
  ["^[a-z]+$", "abc", true],
  ["^[a-z]+$", "ABC", false],
  ["b", "abc", true],
  ["^\\p{L}+$", "ünï", true],
  ["^[\\w-.]+$", "a-b", true], // a pattern only without the flag for Unicode
])("the pattern %s and %j: %s", (pattern, value, expected) => {
  expect(matches(pattern, value)).toBe(expected);
});

test("a pattern that would take for ever is given up", () => {
  const from = Date.now();
  expect(matches("^(a+)+$", `${"a".repeat(60)}!`)).toBeUndefined();
  const took = Date.now() - from;
  expect(took).toBeGreaterThanOrEqual(PATTERN_MS - 10);
  expect(took).toBeLessThan(PATTERN_MS + 2_000);
});

test("what is no pattern matches nothing and refuses nothing", () => {
  expect(compiled("(")).toBeUndefined();
  expect(matches("(", "a")).toBeUndefined();
});

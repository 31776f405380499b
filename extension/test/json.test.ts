import { expect, test } from "vitest";
import { encode, plain } from "../src/json.ts";
import { MAX_JSON_DEPTH } from "../src/limits.ts";

test("what JSON has no word for doesn't cost the request", () => {
  const circle: Record<string, unknown> = { big: 12345678901234567890n, bytes: Uint8Array.of(1) };
  circle.self = circle;
  expect(JSON.parse(encode({ circle, list: [circle] }))).toEqual({
    circle: { big: "12345678901234567890", bytes: { $base64: "AQ==" }, self: null },
    list: [{ big: "12345678901234567890", bytes: { $base64: "AQ==" }, self: null }],
  });
});

test("what stands in two places is in both", () => {
  const same = { a: 1 };
  expect(plain({ x: same, y: same })).toEqual({ x: { a: 1 }, y: { a: 1 } });
});

test("an object that says how it is written is asked", () => {
  expect(plain({ when: new Date(0) })).toEqual({ when: "1970-01-01T00:00:00.000Z" });
});

test("a value that is nested too deep is cut there, and the rest of it is as it was", () => {
  const nested = (depth: number): unknown => (depth === 0 ? "end" : [nested(depth - 1)]);
  const depthOf = (text: string) => text.split("[").length - 1;
  expect(encode(nested(MAX_JSON_DEPTH))).toBe(JSON.stringify(nested(MAX_JSON_DEPTH)));
  const cut = encode({ kept: 1, deep: nested(MAX_JSON_DEPTH) });
  expect(JSON.parse(cut).kept).toBe(1);
  expect(cut).toContain("[null]");
  expect(depthOf(cut)).toBe(MAX_JSON_DEPTH - 1);
  const bottomless = { deep: nested(5_000) };
  expect(depthOf(encode(bottomless))).toBe(MAX_JSON_DEPTH - 1);
});

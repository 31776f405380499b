import { expect, test } from "vitest";
import { encode, plain } from "../src/json.ts";

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

import { expect, test } from "vitest";
import { Lines } from "../src/lines.ts";

test("lines are the same however the bytes are cut", () => {
  const text = 'één\n\n{"a":"😀"}\nrest';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size++) {
    const lines = new Lines();
    const found: string[] = [];
    for (let start = 0; start < bytes.length; start += size) {
      found.push(...lines.push(bytes.subarray(start, start + size)));
    }
    expect([...found, lines.rest()], `chunks of ${size}`).toEqual(text.split("\n"));
  }
});

test("what was given is not kept: the rest is empty after it was taken", () => {
  const lines = new Lines();
  lines.push(Buffer.from("half"));
  expect(lines.rest()).toBe("half");
  expect(lines.rest()).toBe("");
});

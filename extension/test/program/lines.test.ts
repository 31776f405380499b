import { expect, test } from "vitest";
import { KEPT_OF_LONG_LINE_BYTES } from "../../src/limits.ts";
import { Lines } from "../../src/program/lines.ts";

const LIMIT = 5000;

function linesOf(pieces: Iterable<Buffer>, limit = LIMIT) {
  const skipped: string[] = [];
  const lines = new Lines(limit, (beginning) => skipped.push(beginning));
  const found = [...pieces].flatMap((piece) => lines.push(piece));
  return { found: [...found, lines.rest()], skipped };
}

function* cut(text: string, size: number): Iterable<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}

test("lines are the same however the bytes are cut", () => {
  const text = 'één\n\n{"a":"😀"}\nrest';
  for (let size = 1; size <= Buffer.byteLength(text); size++) {
    expect(linesOf(cut(text, size)).found, `chunks of ${size}`).toEqual(text.split("\n"));
  }
});

test("what was given is not kept: the rest is empty after it was taken", () => {
  const lines = new Lines(LIMIT, () => {});
  lines.push(Buffer.from("half"));
  expect(lines.rest()).toBe("half");
  expect(lines.rest()).toBe("");
});

test.each([1, 7, 1000, LIMIT, 100_000])(
  "in chunks of %d a line at the limit is taken, and one over it is skipped",
  (size) => {
    const [fits, over] = ["f".repeat(LIMIT), "o".repeat(LIMIT + 1)];
    const { found, skipped } = linesOf(cut(`a\n${fits}\n${over}\nb\n${over}`, size));
    expect(found).toEqual(["a", fits, "b", ""]);
    const beginning = "o".repeat(KEPT_OF_LONG_LINE_BYTES);
    expect(skipped.map((text) => text.startsWith(beginning))).toEqual([true, true]);
    expect(skipped.map((text) => text.length)).toEqual([
      KEPT_OF_LONG_LINE_BYTES,
      KEPT_OF_LONG_LINE_BYTES,
    ]);
  },
);

test("of a line without an end no more is kept than its beginning", () => {
  const lines = new Lines(LIMIT, () => {});
  for (let sent = 0; sent < 100; sent++) {
    lines.push(Buffer.alloc(1000, "x"));
  }
  const { held } = lines as unknown as { held: Buffer[] };
  expect(Buffer.concat(held).length).toBe(KEPT_OF_LONG_LINE_BYTES);
});

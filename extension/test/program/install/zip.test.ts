import { expect, test } from "vitest";
import { fileIn } from "../../../src/program/install/zip.ts";
import { zip } from "./archive.ts";

const LIMIT = 1000;
const content = Buffer.from("the program ".repeat(20));
const wheel = zip([
  { path: "uv/__init__.py", content: Buffer.from("x") },
  { path: "uv-1.data/scripts/uv", content },
  { path: "uv-1.data/scripts/uvx", content: Buffer.from("stored"), method: 0 },
]);

test("a file is found by the end of its path, packed or not", () => {
  expect(fileIn(wheel, "/scripts/uv", LIMIT).equals(content)).toBe(true);
  expect(fileIn(wheel, "/scripts/uvx", LIMIT).toString()).toBe("stored");
});

test("what an archive hasn't got, or packs in another way, is an error", () => {
  expect(() => fileIn(wheel, "/scripts/pip", LIMIT)).toThrow("has no /scripts/pip");
  const odd = zip([{ path: "a/b", content, method: 12 }]);
  expect(() => fileIn(odd, "/b", LIMIT)).toThrow("(12)");
  expect(() => fileIn(Buffer.from("no archive"), "/b", LIMIT)).toThrow("isn't a zip archive");
});

test("a file that unpacks to more than it may is an error", () => {
  expect(() => fileIn(wheel, "/scripts/uv", 100)).toThrow();
});

test("an archive that is cut off or changed anywhere never does worse than an error", () => {
  for (let at = 0; at < wheel.length; at++) {
    const changed = Buffer.from(wheel);
    changed[at] = 0xff ^ (changed[at] ?? 0);
    for (const archive of [changed, wheel.subarray(0, at)]) {
      try {
        fileIn(archive, "/scripts/uv", LIMIT);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  }
});

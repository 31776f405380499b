import { expect, test } from "vitest";
import { adviceFor, findChromium, PLACES } from "../e2e/chromium.ts";

const there =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test("the first browser that exists is taken", () => {
  const [first, second, third] = PLACES as [string, string, string];
  expect(findChromium(there(third, second), undefined)).toBe(second);
  expect(findChromium(there(first, second), "")).toBe(first);
  expect(findChromium(there(), undefined)).toBeUndefined();
});

test("a browser that is named is taken, or none", () => {
  const named = "/opt/chromium";
  expect(findChromium(there(named, ...PLACES), named)).toBe(named);
  expect(findChromium(there(...PLACES), named)).toBeUndefined();
});

test("who lacks one is told why, and both ways to get one", () => {
  const advice = adviceFor("apt-get has none");
  expect(advice).toContain("apt-get has none");
  expect(advice).toContain("apt-get install chromium");
  expect(advice).toContain("CHROMIUM=/path/to/chromium");
});

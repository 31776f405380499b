import { expect, test } from "vitest";
import { median, medianIsAtLeast } from "../e2e/times.ts";

test("the median is the middle, or lies between the two in the middle", () => {
  expect(median([30, 1, 2])).toBe(2);
  expect(median([30, 1, 2, 4])).toBe(3);
  expect(median([])).toBeNaN();
});

test("twelve times tell that two of them may lie below the median, and not three", () => {
  const times = [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
  expect(medianIsAtLeast(times)).toBe(3);
});

test("five times tell nothing of the kind, and six as much as their least", () => {
  expect(medianIsAtLeast([5, 5, 5, 5, 5])).toBe(Number.NEGATIVE_INFINITY);
  expect(medianIsAtLeast([9, 5, 5, 4, 5, 5])).toBe(4);
});

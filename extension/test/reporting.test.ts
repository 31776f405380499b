import { beforeEach, expect, test, vi } from "vitest";
import { reporting } from "../src/reporting.ts";
import { openAnew, person, window } from "./vscode.ts";

let log: string[];
let shown: number;
const channel = { error: (line: string) => log.push(line), show: () => shown++ };

beforeEach(() => {
  openAnew();
  log = [];
  shown = 0;
});

test.each([
  ["throws", () => failing()],
  ["rejects", async () => failing()],
])("a handler that %s is reported once, and nobody else hears of it", async (_, handler) => {
  await reporting(channel, "restart", handler)();
  expect(log).toEqual([expect.stringMatching(/^restart: Error: it broke\n +at /)]);
  expect(person.asked).toEqual(["it broke"]);
  expect(shown).toBe(0);
});

test("the report leads to the log", async () => {
  person.presses = "Show Log";
  await reporting(channel, "restart", () => Promise.reject("no error at all"))();
  expect(log).toEqual(["restart: no error at all"]);
  expect(shown).toBe(1);
});

test("the report leads to one of the problem", async () => {
  person.presses = "Report a Problem";
  await reporting(channel, "restart", failing)();
  expect(person.ran).toEqual([["vscodelm.reportProblem"]]);
});

test("a window that closes in the middle of a report breaks nothing", async () => {
  vi.spyOn(window, "showErrorMessage").mockRejectedValue(new Error("Canceled"));
  await reporting(channel, "restart", failing)();
  expect(log).toHaveLength(1);
});

test("a handler that works is given what it is called with, and nothing is reported", async () => {
  const heard: number[] = [];
  await reporting(channel, "add", (one: number, other: number) => heard.push(one, other))(1, 2);
  expect(heard).toEqual([1, 2]);
  expect([log, person.asked]).toEqual([[], []]);
});

function failing(): never {
  throw new Error("it broke");
}

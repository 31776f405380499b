import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { Activities } from "../../src/program/activities.ts";
import { person } from "../window.ts";

const told: [string, unknown][] = [];
const logged: string[] = [];
let end = () => {};
let from: { notify(method: string, params: unknown): void; gone: Promise<void> };
let activities: Activities;

beforeEach(() => {
  told.length = logged.length = 0;
  person.stages.length = 0;
  person.cancelsAt = undefined;
  const gone = new Promise<void>((resolve) => {
    end = resolve;
  });
  from = { notify: (method, params) => told.push([method, params]), gone };
  activities = new Activities({ info: (line: string) => logged.push(line) });
});

const say = (message: string, isOver = false, token = 7) =>
  activities.tell(from, { token, title: "Fetching Parrot 1.0", message, isOver });

test("an activity is shown from its first word to its end, and logged once", () => {
  say("1 s");
  say("2 MB, 2 s");
  say("", true);
  expect(person.stages).toEqual(["1 s", "2 MB, 2 s"]);
  expect(logged).toEqual(["Fetching Parrot 1.0 ..."]);
  say("", true); // it was over before it was shown
  expect(told).toEqual([]);
});

test("cancelling it tells the process which one", () => {
  person.cancelsAt = "2 s";
  say("1 s");
  say("2 s");
  expect(told).toEqual([["lm/cancelProgress", { token: 7 }]]);
  say("3 s"); // it was on its way
  say("", true);
  expect(told).toHaveLength(1);
});

test("each process has its own, and they end with it", async () => {
  const shown = vi.spyOn(vscode.window, "withProgress");
  say("1 s");
  const other = { ...from, gone: new Promise<void>(() => {}) };
  activities.tell(other, { token: 7, title: "Fetching Owl", message: "1 s", isOver: false });
  expect(logged).toHaveLength(2);
  end();
  const [first, second] = shown.mock.results.map(({ value }) => value as Promise<void>);
  await first;
  let hasEnded = false;
  void second?.then(() => {
    hasEnded = true;
  });
  await new Promise(setImmediate); // all that follows from the end has happened by then
  expect(hasEnded).toBe(false);
});

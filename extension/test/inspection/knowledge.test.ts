import { beforeEach, expect, test, vi } from "vitest";
import { Knowledge } from "../../src/inspection/knowledge.ts";
import { INSPECTED_EVERY_MS } from "../../src/limits.ts";
import type { InspectResult } from "../../src/program/wire.ts";
import { openAnew, person } from "../vscode.ts";

let asked: boolean[];
let pid: number | undefined;
let answer: () => Promise<InspectResult>;
let complaints: string[];
let knowledge: Knowledge;

beforeEach(() => {
  openAnew();
  vi.useFakeTimers();
  asked = [];
  complaints = [];
  pid = 1;
  answer = async () => ({ events: [], leftOut: 2 });
  const server = {
    async inspect(page: boolean): Promise<InspectResult> {
      asked.push(page);
      return page ? { events: [], page: "<p>the page</p>" } : answer();
    },
    get pid() {
      return pid;
    },
  };
  knowledge = new Knowledge(server, { debug: (line: string) => complaints.push(line) });
  return () => {
    vi.useRealTimers();
  };
});

function panel() {
  const [one] = person.panels;
  if (one === undefined) {
    throw new Error("no page is open");
  }
  return one;
}

const pass = () => vi.advanceTimersByTimeAsync(INSPECTED_EVERY_MS);

test("the page of the program is shown, and may load nothing of this machine", async () => {
  await knowledge.show();
  expect(panel().webview.html).toBe("<p>the page</p>");
  expect(panel().options).toEqual({
    enableScripts: true,
    retainContextWhenHidden: true,
    localResourceRoots: [],
  });
});

test("events come when the page is ready, and again while it can be seen", async () => {
  await knowledge.show();
  await pass();
  expect(panel().sent).toEqual([]);
  panel().says({ type: "ready" });
  await pass();
  expect(panel().sent).toEqual([
    { type: "events", events: [], leftOut: 2 },
    { type: "events", events: [], leftOut: 2 },
  ]);
  panel().turn(false);
  await pass();
  await pass();
  expect(panel().sent).toHaveLength(2);
  panel().turn(true);
  await pass();
  expect(panel().sent).toHaveLength(4);
});

test("a second command brings the page to the front", async () => {
  await knowledge.show();
  await knowledge.show();
  expect([person.panels.length, panel().revealed, asked]).toEqual([1, 1, [true]]);
});

test("after it was closed nothing is asked, and it can be opened again", async () => {
  await knowledge.show();
  panel().says({ type: "ready" });
  await pass();
  panel().dispose();
  const before = asked.length;
  await pass();
  await pass();
  expect(asked).toHaveLength(before);
  await knowledge.show();
  expect(person.panels).toHaveLength(2);
});

test("two commands at once leave one page", async () => {
  await Promise.all([knowledge.show(), knowledge.show()]);
  expect(person.panels.filter(({ isOpen }) => isOpen)).toHaveLength(1);
});

test("a page starts no program", async () => {
  await knowledge.show();
  pid = undefined;
  panel().says({ type: "ready" });
  await pass();
  expect(asked).toEqual([true]);
});

test("a failed look is repeated, and is no error of the user's", async () => {
  await knowledge.show();
  answer = () => Promise.reject(new Error("it has ended"));
  panel().says({ type: "ready" });
  await vi.advanceTimersByTimeAsync(0);
  expect(complaints).toEqual([expect.stringContaining("it has ended")]);
  answer = async () => ({ events: [] });
  await pass();
  expect(panel().sent).toHaveLength(1);
});

test("events come though an earlier message came before the page was loaded", async () => {
  await knowledge.show();
  panel().isLoaded = false;
  panel().turn(true);
  await vi.advanceTimersByTimeAsync(0);
  panel().isLoaded = true;
  panel().says({ type: "ready" });
  await pass();
  expect(panel().sent).not.toEqual([]);
});

test("a slow program isn't asked twice at once", async () => {
  await knowledge.show();
  let release = () => {};
  answer = () => new Promise((resolve) => (release = () => resolve({ events: [] })));
  panel().says({ type: "ready" });
  panel().turn(true);
  await pass();
  expect(asked).toEqual([true, false]);
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(panel().sent).toHaveLength(1);
});

test("a program that sends no page is too old", async () => {
  const old = new Knowledge({ inspect: async () => ({ events: [] }), pid: 1 }, { debug: () => {} });
  await expect(old.show()).rejects.toThrow("Update vscodelm");
});

test("the page closes with the extension", async () => {
  knowledge.dispose();
  await knowledge.show();
  knowledge.dispose();
  expect(panel().isOpen).toBe(false);
});

import { beforeEach, expect, test, vi } from "vitest";
import { type Fix, fixesIn } from "../../src/setup/fix.ts";
import { Fixer } from "../../src/setup/fixes.ts";
import { openAnew, person } from "../vscode.ts";

const keys: string[][] = [];
const logins: string[][] = [];
let storesKeys = true;
let logsIn = true;
const fixer = new Fixer({
  setKey: async (...asked) => {
    keys.push(asked);
    return storesKeys;
  },
  logIn: async (...asked) => {
    logins.push(asked);
    return logsIn;
  },
  environment: () => ({ PATH: "/bin", MODE: "ours" }),
  log: { error: () => {}, show() {} },
});
const again = vi.fn();
const retry = { words: "Send your message again.", button: "Go On", run: again };
const login: Fix = {
  ...{ type: "terminal", title: "Log in", command: "agent", args: ["login"] },
  ...{ env: { MODE: "login" }, cwd: "/there" },
};

beforeEach(() => {
  openAnew();
  keys.length = 0;
  storesKeys = logsIn = true;
  again.mockClear();
});

test("only fixes that are known are taken", () => {
  const page = { type: "page", title: "Read", url: "https://example.org" };
  expect(fixesIn([page, { type: "later", title: "x" }, { type: "page" }, null])).toEqual([page]);
  expect(fixesIn(undefined)).toEqual([]);
});

test("a page is opened, and settings are shown", async () => {
  await fixer.apply({ type: "page", title: "Read", url: "https://example.org/" }, "m", retry);
  await fixer.apply({ type: "settings", title: "Open Settings" }, "m", retry);
  expect(person.pages).toEqual(["https://example.org/"]);
  expect(person.ran).toEqual([["workbench.action.openSettings", "vscodelm.agents"]]);
});

test("the settings of a remote machine are on a page of their own", async () => {
  openAnew({ isRemote: true });
  await fixer.apply({ type: "settings", title: "Open Settings" }, "m", retry);
  const query = "vscodelm.agents";
  expect(person.ran).toEqual([["workbench.action.openRemoteSettings", { query }]]);
});

test("an agent logs in by a method of its own", async () => {
  person.presses = "Go On";
  await fixer.apply({ type: "login", title: "Log in", methodId: "browser" }, "m", retry);
  expect(logins).toEqual([["m", "browser"]]);
  expect(person.asked).toEqual(['"Log in" is done. Send your message again.']);
  await vi.waitFor(() => expect(again).toHaveBeenCalledOnce());
});

test("a login that was cancelled isn't told to be done", async () => {
  logsIn = false;
  await fixer.apply({ type: "login", title: "Log in", methodId: "browser" }, "m", retry);
  expect(person.asked).toEqual([]);
});

test("each key of a fix is asked for, until the user leaves", async () => {
  const fix: Fix = { type: "key", title: "Set A and B...", variables: ["A", "B"] };
  person.presses = "Go On";
  await fixer.apply(fix, "m", retry);
  expect(keys).toEqual([
    ["A", "m"],
    ["B", "m"],
  ]);
  expect(person.asked).toEqual(["A and B is stored. Send your message again."]);
  await vi.waitFor(() => expect(again).toHaveBeenCalledOnce());
  storesKeys = false;
  await fixer.apply(fix, "m", retry);
  expect(keys).toHaveLength(3);
  expect(person.asked).toHaveLength(1);
});

test.each([
  [0, '"Log in" is done. Send your message again.'],
  [3, '"Log in" ended with status 3. Send your message again.'],
  [undefined, '"Log in" ended with status unknown. Send your message again.'],
])("a command runs in a terminal of its own, and its end (%s) leads on", async (status, words) => {
  person.presses = "Go On";
  await fixer.apply(login, "m", retry);
  const [one] = person.tasks;
  expect(one?.task.execution).toEqual({
    process: "agent",
    args: ["login"],
    options: { env: { PATH: "/bin", MODE: "login" }, cwd: "/there" },
  });
  await fixer.apply({ type: "terminal", title: "Other", command: "other" }, "m", retry);
  expect(person.asked).toEqual([]);
  one?.end(status);
  await vi.waitFor(() => expect(again).toHaveBeenCalledOnce());
  expect(person.asked).toEqual([words]);
});

test("a failure is shown with its fixes, and only what is pressed is done", async () => {
  const fixes: Fix[] = [login, { type: "settings", title: "Open Settings" }];
  await fixer.offer("It wants a login.", fixes, "m", retry);
  expect([person.tasks, person.ran]).toEqual([[], []]);
  person.presses = "Log in";
  await fixer.offer("It wants a login.", fixes, "m", retry);
  expect(person.tasks).toHaveLength(1);
  expect(person.asked).toEqual(["It wants a login.", "It wants a login."]);
});

import { EventEmitter } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Launch, start, whyNotStarted } from "../../src/program/start.ts";

const spawned = vi.hoisted(() => ({ by: undefined as undefined | (() => unknown) }));
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>();
  const spawn = (...args: Parameters<typeof real.spawn>) => spawned.by?.() ?? real.spawn(...args);
  return { ...real, spawn };
});

let folder: string;
let launch: Launch;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-start-"));
  launch = { command: process.execPath, args: ["-e", ""], env: {}, cwd: folder };
});

afterEach(async () => {
  spawned.by = undefined;
  await rm(folder, { recursive: true });
});

/** Return what becomes of it: how it fails, or that it runs. */
async function outcome(change: Partial<Launch>): Promise<string> {
  const changed = { ...launch, ...change };
  const child = start(changed);
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(whyNotStarted(changed, error)));
    child.once("close", (status) => resolve(`status ${status}`));
  });
}

test("what can be started runs, and ends", async () => {
  expect(await outcome({})).toBe("status 0");
});

test.each([
  [{ command: "a\0b" }, "the program's path holds a NUL"],
  [{ cwd: "a\0b" }, "the working folder holds a NUL"],
  [{ args: ["a", "s3cret\0"] }, "argument 2 holds a NUL"],
  [{ env: { KEY: "s3cret\0" } }, 'the environment variable "KEY" holds a NUL'],
  [{ env: { "s3\0": "" } }, "the name of an environment variable holds a NUL"],
])("a NUL character is a failure that names its place, and no value: %j", (change, words) => {
  expect(() => start({ ...launch, ...change })).toThrow(
    expect.objectContaining({
      kind: "NotFound",
      message: expect.stringMatching(new RegExp(`^vscodelm can't be started: ${words}`)),
    }),
  );
  expect(() => start({ ...launch, ...change })).not.toThrow("s3cret");
});

test("what isn't there is named: the program, what runs it, or the folder", async () => {
  const script = join(folder, "script");
  await writeFile(script, "#!/nowhere/python\n");
  await chmod(script, 0o755);
  expect(await outcome({ command: "/nowhere/x" })).toBe("there is no program /nowhere/x");
  expect(await outcome({ command: script })).toBe(`the interpreter of ${script} is missing`);
  expect(await outcome({ cwd: "/nowhere" })).toBe("there is no folder /nowhere");
});

test("a file that isn't a program is said to be so", async () => {
  const plain = join(folder, "plain");
  await writeFile(plain, "");
  expect(await outcome({ command: plain })).toBe(`there is no permission to run ${plain}`);
});

test("arguments that are too long fail at once, in words", () => {
  const args = ["x".repeat(3_000_000)];
  expect(() => start({ ...launch, args })).toThrow(
    "vscodelm can't be started: its arguments or its environment are too long.",
  );
});

test("a system without more open files fails it, and the late event breaks nothing", () => {
  const child = new EventEmitter();
  spawned.by = () => child;
  expect(() => start(launch)).toThrow("no more open files or processes");
  expect(() => child.emit("error", new Error("spawn EMFILE"))).not.toThrow();
});

test("a failure of another kind keeps its words", () => {
  expect(whyNotStarted(launch, new Error("spawn EIO"))).toBe("spawn EIO");
});

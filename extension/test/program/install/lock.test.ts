import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LOCK_BEAT_MS, LOCK_STALE_MS } from "../../../src/limits.ts";
import { type Clock, realClock, removeLeft, withLock } from "../../../src/program/install/lock.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-lock-"));
  file = join(folder, "lock");
});

afterEach(() => rm(folder, { recursive: true }));

/** A clock that goes on only where somebody waits; `during` is done in each wait. */
class FakeClock implements Clock {
  time = 0;
  beats: (() => void)[] = [];
  constructor(private readonly during: (time: number) => unknown = () => {}) {}
  now = () => this.time;
  wait = async (milliseconds: number) => {
    this.time += milliseconds;
    await this.during(this.time);
    await new Promise((resolve) => setImmediate(resolve));
  };
  every = (_: number, run: () => void) => {
    this.beats.push(run);
    return () => {
      this.beats = this.beats.filter((beat) => beat !== run);
    };
  };
}

const holder = (pid: number, host = hostname()) => JSON.stringify({ host, pid, id: "x" });
/** No process has it. */
const GONE = 2 ** 22 + 1;

test("work is done one after the other, and the lock is gone afterwards", async () => {
  const done: string[] = [];
  const work = (name: string) => async (waited: boolean) => {
    done.push(`${name} begins, waited: ${waited}`);
    await new Promise((resolve) => setImmediate(resolve));
    done.push(`${name} ends`);
  };
  const clock = new FakeClock();
  await Promise.all(["a", "b", "c"].map((name) => withLock(file, work(name), clock)));
  expect(done.map((line) => line.slice(2))).toEqual([
    "begins, waited: false",
    "ends",
    "begins, waited: true",
    "ends",
    "begins, waited: true",
    "ends",
  ]);
  expect(await readdir(folder)).toEqual([]);
});

test("work that fails releases the lock, and its error is the caller's", async () => {
  const failing = withLock(file, () => Promise.reject(new Error("no disk")), new FakeClock());
  await expect(failing).rejects.toThrow("no disk");
  expect(await readdir(folder)).toEqual([]);
});

test("the lock of a process that is gone is taken at once", async () => {
  await writeFile(file, holder(GONE));
  const clock = new FakeClock();
  expect(await withLock(file, async (waited) => waited, clock)).toBe(false);
  expect(clock.time).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["of another machine", holder(GONE, "elsewhere")],
  ["of a process of the same number", holder(process.pid)],
  ["that isn't one", "nonsense"],
  ["that was cut off", ""],
])("a lock %s is taken when it has shown no life for a while, and not before", async (_, text) => {
  await writeFile(file, text);
  const clock = new FakeClock();
  await withLock(file, async () => {}, clock);
  expect(clock.time).toBe(LOCK_STALE_MS);
});

test("a holder that shows life is waited for, however long it takes and whatever its clock says", async () => {
  await writeFile(file, holder(process.pid));
  let beats = 0;
  const end = 10 * LOCK_STALE_MS;
  const clock = new FakeClock(async (time) => {
    if (time >= end) {
      await rm(file, { force: true });
    } else if (time % LOCK_BEAT_MS === 0) {
      beats++;
      await utimes(file, beats, beats); // in 1970
    }
  });
  await withLock(file, async () => {}, clock);
  expect(clock.time).toBe(end);
});

test("who works shows life, and no more afterwards", async () => {
  const clock = new FakeClock();
  await withLock(
    file,
    async () => {
      await utimes(file, 1, 1);
      clock.beats.forEach((beat) => void beat());
      await expect.poll(async () => (await stat(file)).mtimeMs).toBeGreaterThan(1000);
    },
    clock,
  );
  expect(clock.beats).toEqual([]);
});

test("a lock that somebody else has taken meanwhile is theirs, and stays", async () => {
  const theirs = holder(process.pid);
  await withLock(file, () => writeFile(file, theirs), new FakeClock());
  expect(await readFile(file, "utf8")).toBe(theirs);
});

test("a lock that was taken since it was looked at stays", async () => {
  const theirs = holder(process.pid);
  await writeFile(file, theirs);
  await removeLeft(file, `1 ${holder(GONE)}`);
  expect(await readFile(file, "utf8")).toBe(theirs);
  await removeLeft(file, `1 ${theirs}`);
  await removeLeft(file, `1 ${theirs}`); // somebody else was quicker
  expect(await readdir(folder)).toEqual([]);
});

test("a folder in which no lock can be is a failure", async () => {
  const nowhere = join(folder, "nowhere/lock");
  await expect(withLock(nowhere, async () => {})).rejects.toThrow("ENOENT");
});

test("a disk without room for the lock leaves none that would be nobody's", async () => {
  const source = new URL("../../../src/program/install/lock.ts", import.meta.url).href;
  const script = `import("${source}").then(({ withLock }) => withLock("${file}", async () => {}))`;
  // No file may have a byte: it can be made, and not be written.
  const limited = `ulimit -f 0; exec "${process.execPath}" -e '${script}'`;
  const failure = await promisify(execFile)("/bin/sh", ["-c", limited]).catch((error) => error);
  expect(failure.stderr).toMatch(/EFBIG|ENOSPC/);
  expect(await readdir(folder)).toEqual([]);
});

test("the real clock goes on, and its beat can be ended", async () => {
  const before = realClock.now();
  const beaten = new Promise<void>((resolve) => {
    const stop = realClock.every(1, () => {
      stop();
      resolve();
    });
  });
  await realClock.wait(2);
  await beaten;
  expect(realClock.now()).toBeGreaterThan(before);
});

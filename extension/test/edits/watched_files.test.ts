import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IGNORED_MS } from "../../src/edits/git.ts";
import {
  MOST_KEPT,
  MOST_LOOKED_AT,
  MOST_NAMED,
  MOST_WATCHES,
  TurnWatches,
} from "../../src/edits/watched_files.ts";
import { configure, git, notice, openAnew, openFolder, remove, save, watched } from "../vscode.ts";

let folder: string;
let files: TurnWatches;
let leave: () => void;
let teller: { notify(): void; gone: Promise<void> };

beforeEach(async () => {
  openAnew();
  folder = await mkdtemp(join(tmpdir(), "watched-"));
  openFolder(folder);
  files = new TurnWatches();
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  teller = { notify: () => {}, gone };
});

afterEach(async () => {
  vi.useRealTimers();
  files.dispose();
  await rm(folder, { recursive: true });
});

const at = (name: string) => join(folder, name);
const begin = (watch = 1) => files.watch(teller, { watch });
const end = (watch = 1) => files.watch(teller, { watch, isOver: true });
const changed = (watch = 1) => files.changed(teller, { watch });

/** Write a file behind the editor's back; the editor notices it. */
async function write(name: string, text = "x"): Promise<string> {
  await writeFile(at(name), text);
  notice("changed", at(name));
  return at(name);
}

test("files that change during a turn are named, and only those", async () => {
  await write("before");
  begin();
  const path = await write("a");
  begin(2);
  const other = await write("b");
  expect(await changed()).toEqual({ paths: [path, other], more: 0 });
  expect(await changed(2)).toEqual({ paths: [other], more: 0 });
  end();
  expect(await changed()).toEqual({ paths: [], more: 0 });
  expect(await changed(2)).toEqual({ paths: [other], more: 0 });
});

test("the editor is listened to only while a turn runs", () => {
  expect(watched.size).toBe(0);
  begin();
  begin(2);
  end();
  expect([...watched]).toEqual(["**/*"]);
  end(2);
  expect(watched.size).toBe(0);
});

test("a process that ends takes its turns along", async () => {
  begin();
  leave();
  await vi.waitFor(() => expect(watched.size).toBe(0));
  expect(await changed()).toEqual({ paths: [], more: 0 });
});

test("a number of another process is another turn", async () => {
  begin();
  const other = { notify: () => {}, gone: new Promise<void>(() => {}) };
  files.watch(other, { watch: 1, isOver: true });
  const path = await write("a");
  expect((await changed()).paths).toEqual([path]);
  expect((await files.changed(other, { watch: 1 })).paths).toEqual([]);
});

test("what the editor has written last isn't named, before or after it is noticed", async () => {
  begin();
  const first = await write("first");
  save(first);
  await writeFile(at("second"), "x");
  save(at("second"));
  notice("changed", at("second"));
  expect((await changed()).paths).toEqual([]);
  await writeFile(first, "again");
  await utimes(first, 1, 1); // another time, on disks with coarse clocks, too
  expect((await changed()).paths).toEqual([first]);
});

test("what the editor has deleted or renamed isn't named", async () => {
  await writeFile(at("new"), "x");
  begin();
  notice("deleted", at("gone"));
  remove(at("gone"));
  notice("deleted", at("old"));
  notice("created", at("new"));
  remove(at("old"), at("new"));
  notice("deleted", at("other"));
  expect((await changed()).paths).toEqual([at("other")]);
});

test("a file that comes and goes isn't named, and one that is written anew is", async () => {
  begin();
  notice("created", at("temporary"));
  notice("changed", at("temporary"));
  notice("deleted", at("temporary"));
  notice("deleted", at("anew"));
  notice("created", at("anew"));
  notice("deleted", at("anew"));
  expect((await changed()).paths).toEqual([at("anew")]);
});

test("folders aren't named", async () => {
  begin();
  await mkdir(at("made"));
  notice("created", at("made"));
  expect((await changed()).paths).toEqual([]);
});

test("what the settings or git leave out isn't named, nor what is in such a folder", async () => {
  configure("files.exclude", { "**/.git": true, "*.log": true, kept: false });
  git.isThere = true;
  git.ignored.add(at("built"));
  begin();
  for (const name of [".git", ".git/index", "sub/.git/index", "a.log", "built"]) {
    notice("changed", at(name));
  }
  for (const name of ["kept", "sub/a.log", "gitless"]) {
    notice("changed", at(name));
  }
  expect((await changed()).paths).toEqual(["kept", "sub/a.log", "gitless"].map(at));
});

test("a git that never answers is waited for a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  Object.assign(git, { isThere: true, answers: false });
  begin();
  notice("changed", at("a"));
  const asked = changed();
  await vi.advanceTimersByTimeAsync(IGNORED_MS);
  expect((await asked).paths).toEqual([at("a")]);
});

test("further files are counted", async () => {
  begin();
  for (let number = 0; number <= MOST_KEPT; number++) {
    notice("changed", at(`${number}`));
  }
  const { paths, more } = await changed();
  expect(paths).toHaveLength(MOST_NAMED);
  expect(paths.length + more).toBe(MOST_KEPT + 1);
  expect(MOST_NAMED).toBeLessThan(MOST_LOOKED_AT);
});

test("for too many turns the oldest is given up", async () => {
  for (let number = 0; number <= MOST_WATCHES; number++) {
    begin(number);
  }
  const path = await write("a");
  expect((await changed(0)).paths).toEqual([]);
  expect((await changed(1)).paths).toEqual([path]);
});

test("what isn't a number begins nothing", async () => {
  for (const odd of [undefined, null, {}, { watch: "1" }]) {
    files.watch(teller, odd);
    expect(await files.changed(teller, odd)).toEqual({ paths: [], more: 0 });
  }
  expect(watched.size).toBe(0);
});

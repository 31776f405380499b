import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isExecutable } from "../../../src/program/executable.ts";
import { OwnEnvironment } from "../../../src/program/install/environment.ts";
import type { InstallStep, Run } from "../../../src/program/install/run.ts";
import { bundle, clock, type Here, machine, program, Told } from "./machine.ts";

let folder: string;
let storage: string;
let dist: string;
let ran: InstallStep[];

const here = (what: Here) => new OwnEnvironment({ storage, bundle: dist }, machine(what, ran));
const withUv = () => here({ programs: ["uv"] });
const environments = () => readdir(join(storage, "environments"));
const ranLines = () => ran.map(({ command, args }) => [command, ...args].join(" "));
const said = () => new Told();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-test-"));
  storage = join(folder, "storage");
  dist = join(folder, "dist");
  ran = [];
  await bundle(dist, "1.0");
});

afterEach(() => rm(folder, { recursive: true }));

test("with uv an environment is made: its packages by their hashes, and then the wheel alone", async () => {
  const environment = here({ programs: ["uv", "python3"] });
  expect(await environment.program()).toBeUndefined();
  const told = new Told();
  await environment.create(told);
  const place = join(storage, "environments", (await environments())[0] ?? "");
  const own = `pip install --python ${join(place, "bin/python")}`;
  expect(ranLines()).toEqual([
    "/usr/bin/uv --version",
    "/usr/bin/uv python find --system cpython>=3.11,<3.15",
    `/usr/bin/uv venv --python /usr/bin/python3 ${place}`,
    `/usr/bin/uv ${own} --require-hashes --no-build -r ${join(dist, "requirements.txt")}`,
    `/usr/bin/uv ${own} --no-index --no-deps ${join(dist, "vscodelm-1.0-py3-none-any.whl")}`,
    `${join(place, "bin/vscodelm")} --version`,
  ]);
  expect(new Set(ran.map(({ folder }) => folder))).toEqual(new Set([storage])); // not the open one
  expect(ran[1]?.env).toEqual({ UV_PYTHON_DOWNLOADS: "never" });
  expect(told.stages).toEqual([
    "Looking for Python",
    "Making the environment",
    "Installing packages",
    "Trying it out",
  ]);
  expect(await environment.program()).toBe(join(place, "bin/vscodelm"));
  expect((await readdir(storage)).sort()).toEqual(["environment.json", "environments"]);
});

test("without uv the first Python that fits makes it, with pip as strict as uv", async () => {
  const old = { "/usr/bin/python3": "CPython 3 9 True" };
  const environment = here({ programs: ["python3", "python3.12"], pythons: old });
  await environment.create(said());
  const place = join(storage, "environments", (await environments())[0] ?? "");
  const quietly = "--disable-pip-version-check --no-input --retries 2";
  const pip = `${join(place, "bin/python")} -m pip install ${quietly}`;
  expect(ranLines().slice(2)).toEqual([
    `/usr/bin/python3.12 -m venv ${place}`,
    `${pip} --require-hashes --only-binary :all: -r ${join(dist, "requirements.txt")}`,
    `${pip} --no-index --no-deps ${join(dist, "vscodelm-1.0-py3-none-any.whl")}`,
    `${join(place, "bin/vscodelm")} --version`,
  ]);
});

test("without a Python nothing is downloaded unless it may be", async () => {
  const environment = here({ programs: ["uv"], hasPython: false });
  await expect(environment.create(said())).rejects.toMatchObject({ reason: "python" });
  expect(ranLines().filter((line) => line.includes("install"))).toEqual([]);
});

test("a downloaded Python has a folder of its own, and later environments use it without a question", async () => {
  const environment = here({ programs: ["uv"], hasPython: false });
  const told = new Told();
  await environment.create(told, true);
  expect(told.stages).toContain("Downloading Python");
  const [python = ""] = await readdir(join(storage, "pythons"));
  const place = join(storage, "pythons", python);
  const install = ran.find(({ args }) => args[1] === "install");
  expect(install?.env).toEqual({
    UV_PYTHON_INSTALL_DIR: place,
    UV_PYTHON_INSTALL_BIN: "0",
    UV_PYTHON_INSTALL_REGISTRY: "0",
    UV_PYTHON_PREFERENCE: "only-managed",
  });
  expect(ranLines()).toContainEqual(
    expect.stringContaining(`venv --python ${join(place, "python3")}`),
  );
  await bundle(dist, "2.0");
  const again = new Told();
  await environment.create(again);
  expect(again.stages).not.toContain("Downloading Python");
  expect(await readdir(join(storage, "pythons"))).toEqual([python]);
  expect(await environment.program()).toBeDefined();
});

test("a Python that is needed no more is removed, and not while the environment before has it", async () => {
  await here({ programs: ["uv"], hasPython: false }).create(said(), true);
  for (const left of [1, 1, 0]) {
    await withUv().create(said());
    expect(await readdir(join(storage, "pythons"))).toHaveLength(left);
  }
});

test("an environment of an older bundle isn't used, and one of another with the same version neither", async () => {
  const environment = withUv();
  await environment.create(said());
  const before = await environment.program();
  await bundle(dist, "1.0", { "requirements.txt": "other==1" });
  expect(await environment.program()).toBeUndefined();
  expect(await environment.anyProgram()).toBe(before);
  await environment.create(said());
  expect(await environment.program()).not.toBe(before);
});

const STEPS = ["venv --python", "--require-hashes", "--no-deps", "bin/vscodelm --version"];

test.each(STEPS)("a failed update leaves what works, and nothing else: %s fails", async (step) => {
  await withUv().create(said());
  const before = await withUv().program();
  await bundle(dist, "2.0");
  const failing = here({ programs: ["uv"], broken: { [step]: "broken" } });
  await expect(failing.create(said())).rejects.toThrow("exited with status 1");
  expect(await failing.anyProgram()).toBe(before);
  expect(before && (await isExecutable(before))).toBe(true);
  expect(await environments()).toHaveLength(1);
  expect(await readdir(storage)).not.toContain("environment.lock");
  await withUv().create(said()); // and the next try is as good as the first
  expect(await withUv().program()).not.toBe(before);
});

const STAGES = [
  "Looking for Python",
  "Making the environment",
  "Downloading Python",
  "Installing packages",
  "Trying it out",
];

test.each(STAGES)("cancelled at any stage nothing is left of it: %s", async (stage) => {
  await withUv().create(said());
  const before = await withUv().program();
  await bundle(dist, "2.0");
  const environment = here({ programs: ["uv"], hasPython: false });
  const work = environment.create(new Told(stage), true);
  await expect(work).rejects.toThrow("was cancelled");
  expect(await environment.anyProgram()).toBe(before);
  expect(await environments()).toHaveLength(1);
  expect(await readdir(join(storage, "pythons")).catch(() => [])).toEqual([]);
  expect(await readdir(storage)).not.toContain("environment.lock");
});

test("who waits for another window can cancel, and doesn't disturb it", async () => {
  const waiting = new Told("Waiting for another window");
  const slow: Run = async (step, work) => {
    if (step.args.includes("venv")) {
      await expect(withUv().create(waiting)).rejects.toThrow("was cancelled");
    }
    return machine({ programs: [] }, ran).run(step, work);
  };
  const what = { ...machine({ programs: ["uv"] }), run: slow };
  const environment = new OwnEnvironment({ storage, bundle: dist }, what);
  await environment.create(said());
  expect(waiting.stages).toContain("Waiting for another window");
  expect(await environment.program()).toBeDefined();
});

test("until the new one is complete the old one counts", async () => {
  await withUv().create(said());
  const before = await withUv().program();
  await bundle(dist, "2.0");
  const seen: (string | undefined)[] = [];
  const looking: Run = async (step, work) => {
    seen.push(await withUv().anyProgram());
    return machine({ programs: [] }, ran).run(step, work);
  };
  const what = { ...machine({ programs: ["uv"] }), run: looking };
  await new OwnEnvironment({ storage, bundle: dist }, what).create(said());
  expect(new Set(seen)).toEqual(new Set([before]));
  expect(await withUv().anyProgram()).not.toBe(before);
});

test("the note of what counts is replaced as a whole, never written over", async () => {
  await withUv().create(said());
  const note = join(storage, "environment.json");
  const before = await readFile(note, "utf8");
  const held = await open(note);
  await withUv().create(said());
  expect(await held.readFile("utf8")).toBe(before);
  expect(await readFile(note, "utf8")).not.toBe(before);
  await held.close();
});

test("the environment before the last is kept while a window may run it, and no older one", async () => {
  const environment = withUv();
  const programs: string[] = [];
  for (let time = 0; time < 4; time++) {
    await environment.create(said());
    programs.push((await environment.program()) ?? "");
    await mkdir(join(storage, "environments/cut-off")); // by a window that has crashed
  }
  const kept = await Promise.all(programs.map(isExecutable));
  expect(kept).toEqual([false, true, true, true]); // the first of these goes with the next
  expect((await environments()).filter((name) => name !== "cut-off")).toHaveLength(3);
});

test("what is left of windows that crashed is swept, and an older uv of the extension's own", async () => {
  for (const left of ["environments/a/bin/vscodelm", "pythons/b/python3", "uv/1.0.0/uv"]) {
    await program(join(storage, left));
  }
  await program(join(storage, "uv/1.2.3/uv"));
  await withUv().create(said());
  expect(await environments()).toHaveLength(1);
  expect(await readdir(join(storage, "pythons"))).toEqual([]);
  expect(await readdir(join(storage, "uv"))).toEqual(["1.2.3"]);
});

test.each([
  "",
  "null",
  "{}",
  '{"folder": 3, "bundle": ""}',
  '{"folder": "../..", "bundle": ""}',
  '{"folder": "..", "bundle": ""}',
])("a note of the environment that says %j is none", async (text) => {
  await mkdir(storage);
  await writeFile(join(storage, "environment.json"), text);
  expect(await withUv().program()).toBeUndefined();
  expect(await withUv().anyProgram()).toBeUndefined();
  await withUv().create(said());
  expect(await withUv().program()).toBeDefined();
});

test("the environment of an extension that knew no bundles counts until there is a newer one", async () => {
  await program(join(storage, "environments/old/bin/vscodelm"));
  await writeFile(join(storage, "environment.json"), '{"folder": "old", "wheel": "some.whl"}');
  expect(await withUv().program()).toBeUndefined();
  expect(await withUv().anyProgram()).toBe(join(storage, "environments/old/bin/vscodelm"));
});

test("of two windows one builds, and the other takes what it has built", async () => {
  const [one, other] = [withUv(), withUv()];
  const [first, second] = [new Told(), new Told()];
  await Promise.all([one.create(first), other.create(second)]);
  expect(ranLines().filter((line) => line.includes(" venv "))).toHaveLength(1);
  expect([...first.lines, ...second.lines]).toEqual(["Another window has installed it."]);
  expect(await one.program()).toBe(await other.program());
  expect(await environments()).toHaveLength(1);
});

test("where the window that builds fails, the one that waits builds", async () => {
  const other = withUv();
  let waiting: Promise<void> | undefined;
  const fail: Run = async (step, work) => {
    if (!step.args.includes("venv")) {
      return machine({ programs: [] }).run(step, work);
    }
    waiting = other.create(said());
    await clock.wait(0);
    throw new Error("no network");
  };
  const what = { ...machine({ programs: ["uv"] }), run: fail };
  const failing = new OwnEnvironment({ storage, bundle: dist }, what);
  await expect(failing.create(said())).rejects.toThrow("no network");
  await waiting;
  expect(await other.program()).toBeDefined();
});

test("a build without vscodelm says so", async () => {
  const environment = new OwnEnvironment({ storage, bundle: join(folder, "none") });
  await expect(environment.create(said())).rejects.toThrow("doesn't contain vscodelm");
});

test("a file of the extension that isn't as it was packaged is not installed", async () => {
  for (const name of ["vscodelm-1.0-py3-none-any.whl", "requirements.txt", "uv.json"]) {
    await bundle(dist, "1.0");
    await writeFile(join(dist, name), `${await readFile(join(dist, name), "utf8")} changed`);
    await expect(withUv().create(said())).rejects.toThrow(`is damaged (${name})`);
    await rm(join(dist, name));
    await expect(withUv().create(said())).rejects.toThrow(`is damaged (${name})`);
  }
  expect(ran).toEqual([]);
});

test("a failure names the index without its password, and what was wrong", async () => {
  const broken = { "--require-hashes": "cause: dns error" };
  const environment = here({ programs: ["uv"], broken });
  await expect(environment.create(said())).rejects.toThrow(
    "The package index https://***@index.example/simple can't be reached",
  );
});

test("where a Python can't be downloaded, its server is named, not the index", async () => {
  const broken = { "python install": "client error (Connect)" };
  const environment = here({ programs: ["uv"], hasPython: false, broken });
  await expect(environment.create(said(), true)).rejects.toThrow(
    "The server that uv downloads Python from can't be reached",
  );
});

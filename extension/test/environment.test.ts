import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OwnEnvironment, type Run, runProgram } from "../src/environment.ts";
import { findOnPath, isExecutable } from "../src/executable.ts";
import { Installer } from "../src/installer.ts";
import { INSTALL_STEP_MS } from "../src/limits.ts";
import type { Clock } from "../src/lock.ts";
import { openAnew, person } from "./vscode.ts";

let folder: string;
let storage: string;
let wheels: string;
let ran: string[][];
const said = () => {};
const quiet = { info() {}, error() {}, show() {} };
const WHEEL = "vscodelm-1.0-py3-none-any.whl";

/** A machine on which some programs are; installing puts `vscodelm` where it belongs. */
function machine(programs: string[], broken: string[] = []): OwnEnvironment {
  const run: Run = async (command, args, _, place) => {
    ran.push([command, ...args]);
    expect(place).toBe(storage); // and not the folder that is open
    if (broken.some((part) => command.endsWith(part) || args.includes(part))) {
      throw new Error(`${command} is broken`);
    }
    const made = args.at(command.endsWith("uv") && args[0] === "venv" ? 3 : 2);
    if (args.includes("venv") && made !== undefined) {
      await program(join(made, "bin/vscodelm"));
    }
  };
  const find = async (name: string) => (programs.includes(name) ? `/usr/bin/${name}` : undefined);
  return new OwnEnvironment({ storage, wheels }, run, find, clock);
}

/** A clock whose waits are over at once, and on which all windows are given their turns. */
const clock: Clock = {
  now: () => 0,
  wait: () => new Promise((resolve) => setImmediate(resolve)),
  every: () => () => {},
};

async function program(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o755);
}

/** Put another wheel into the extension, as an update of it does. */
async function update(): Promise<void> {
  await rm(join(wheels, WHEEL));
  await writeFile(join(wheels, "vscodelm-2.0-py3-none-any.whl"), "");
}

const environments = () => readdir(join(storage, "environments"));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-test-"));
  storage = join(folder, "storage");
  wheels = join(folder, "dist");
  ran = [];
  openAnew();
  await mkdir(wheels);
  await writeFile(join(wheels, WHEEL), "");
});

afterEach(() => rm(folder, { recursive: true }));

test("with uv an environment is made from the wheel in the extension", async () => {
  const environment = machine(["uv", "python3"]);
  expect(await environment.program()).toBeUndefined();
  await environment.create(said);
  const [name = ""] = await environments();
  const place = join(storage, "environments", name);
  expect(ran).toEqual([
    ["/usr/bin/uv", "venv", "--python", ">=3.11", place],
    ["/usr/bin/uv", "pip", "install", "--python", join(place, "bin/python"), join(wheels, WHEEL)],
    [join(place, "bin/vscodelm"), "--version"],
  ]);
  expect(await environment.program()).toBe(join(place, "bin/vscodelm"));
  expect((await readdir(storage)).sort()).toEqual(["environment.json", "environments"]);
});

test("without uv the first Python that is new enough makes it", async () => {
  const environment = machine(["python3", "python3.12"], ["/usr/bin/python3"]);
  await environment.create(said);
  const place = join(storage, "environments", (await environments())[0] ?? "");
  expect(ran.map(([command, first, second]) => [command, first, second])).toEqual([
    ["/usr/bin/python3", "-c", expect.stringContaining("version_info < (3, 11)")],
    ["/usr/bin/python3.12", "-c", expect.anything()],
    ["/usr/bin/python3.12", "-m", "venv"],
    [join(place, "bin/python"), "-m", "pip"],
    [join(place, "bin/vscodelm"), "--version", undefined],
  ]);
});

test("where there is neither, it says what to install", async () => {
  await expect(machine([]).create(said)).rejects.toThrow("Neither uv nor Python 3.11");
});

test("an environment of an older wheel isn't used, and needs no new question", async () => {
  const environment = machine(["uv"]);
  await environment.create(said);
  const before = await environment.program();
  await update();
  expect(await environment.program()).toBeUndefined();
  expect(await environment.anyProgram()).toBe(before);
  const installer = new Installer(environment, quiet);
  const after = await installer.ask();
  expect(after).toBe(await environment.program());
  expect(after).not.toBe(before);
  expect(person.asked).toEqual([]);
});

test.each([["/uv"], ["pip"], ["--version"]])(
  "a failed update leaves the program that works, and it goes on: %s is broken",
  async (broken) => {
    await machine(["uv"]).create(said);
    const before = await machine([]).program();
    await update();
    const failing = machine(["uv"], [broken]);
    expect(await new Installer(failing, quiet).install()).toBe(before);
    expect(before && (await isExecutable(before))).toBe(true);
    expect(person.asked).toEqual([
      expect.stringMatching(
        /couldn't be installed: .*The one that was installed before goes on\.$/,
      ),
    ]);
    expect(await environments()).toHaveLength(1);
    expect(await readdir(storage)).not.toContain("environment.lock");
    await machine(["uv"]).create(said); // and the next try is as good as the first
    expect(await machine([]).program()).not.toBe(before);
  },
);

test("the environment before the last is kept while a window may run it, and no older one", async () => {
  const environment = machine(["uv"]);
  const programs: string[] = [];
  for (let time = 0; time < 4; time++) {
    await environment.create(said);
    programs.push((await environment.program()) ?? "");
    await mkdir(join(storage, "environments/cut-off")); // by a window that has crashed
  }
  const kept = await Promise.all(programs.map(isExecutable));
  expect(kept).toEqual([false, true, true, true]); // the first of these goes with the next
  expect((await environments()).filter((name) => name !== "cut-off")).toHaveLength(3);
});

test("an environment that wasn't finished isn't one", async () => {
  const environment = machine(["uv"], ["/usr/bin/uv"]);
  await expect(environment.create(said)).rejects.toThrow("broken");
  expect(await environment.exists()).toBe(false);
  expect(await environments()).toEqual([]);
});

test.each(["", "null", "{}", '{"folder": 3, "wheel": ""}', '{"folder": "../..", "wheel": ""}'])(
  "a note of the environment that says %j is none",
  async (text) => {
    await mkdir(storage);
    await writeFile(join(storage, "environment.json"), text);
    expect(await machine([]).program()).toBeUndefined();
    expect(await machine([]).anyProgram()).toBeUndefined();
    await machine(["uv"]).create(said);
    expect(await machine([]).program()).toBeDefined();
  },
);

test("of two windows one builds, and the other takes what it has built", async () => {
  const [one, other] = [machine(["uv"]), machine(["uv"])];
  const told: string[] = [];
  await Promise.all([one, other].map((window) => window.create((text) => told.push(text))));
  expect(ran).toHaveLength(3);
  expect(told).toEqual(["Another window has installed it.\n"]);
  expect(await one.program()).toBe(await other.program());
  expect(await environments()).toHaveLength(1);
});

test("where the window that builds fails, the one that waits builds", async () => {
  const other = machine(["uv"]);
  let waiting: Promise<void> | undefined;
  const fail = async () => {
    waiting = other.create(said);
    await clock.wait(0);
    throw new Error("no network");
  };
  const failing = new OwnEnvironment({ storage, wheels }, fail, async (name) => name, clock);
  await expect(failing.create(said)).rejects.toThrow("no network");
  await waiting;
  expect(await other.program()).toBeDefined();
});

test("a build without a wheel says so", async () => {
  const environment = new OwnEnvironment({ storage, wheels: join(folder, "none") });
  await expect(environment.create(said)).rejects.toThrow("doesn't hold vscodelm");
});

test("nothing is installed unless the user says so, once for all who ask", async () => {
  const installer = new Installer(machine(["uv"]), quiet);
  expect(await installer.ask()).toBeUndefined();
  expect(ran).toEqual([]);
  person.presses = "Install";
  const [one, other] = await Promise.all([installer.install(), installer.install()]);
  expect(one).toBe(other);
  expect(ran).toHaveLength(3);
});

test("a failed installation is told with its reason", async () => {
  const installer = new Installer(machine([]), quiet);
  expect(await installer.install()).toBeUndefined();
  expect(person.asked.at(-1)).toMatch(
    /couldn't be installed: Neither uv nor Python 3.11.*again\.$/,
  );
});

test("a program that takes too long is ended, and what it has started can't hold that up", async () => {
  const script = "echo begun; sleep 2 & exec sleep 2";
  const heard: string[] = [];
  const running = runProgram("/bin/sh", ["-c", script], (text) => heard.push(text), folder, 300);
  await expect(running).rejects.toThrow("sh didn't end in 0.3 seconds.");
  expect(heard.join("")).toContain("begun");
  await runProgram("/bin/sh", ["-c", "true"], said, folder, INSTALL_STEP_MS);
});

test("a real program is run, and its failure says its last words", async () => {
  const find = async (name: string) => (name === "uv" ? process.execPath : undefined);
  const environment = new OwnEnvironment({ storage, wheels }, undefined, find);
  const heard: string[] = [];
  await expect(environment.create((text) => heard.push(text))).rejects.toThrow(
    /exited with status/,
  );
  expect(heard.join("")).toContain("venv");
});

test("a program is found on PATH in the order of the folders, and must be one", async () => {
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  await mkdir(join(one, "tool"), { recursive: true });
  await mkdir(two);
  await writeFile(join(two, "plain"), "");
  await program(join(two, "tool"));
  const env = { PATH: `${one}::${two}` };
  expect(await findOnPath("tool", env)).toBe(join(two, "tool"));
  expect(await findOnPath("plain", env)).toBeUndefined();
  expect(await findOnPath("tool", {})).toBeUndefined();
  const below = relative(process.cwd(), two); // a folder of the workspace must not choose the program
  expect(await findOnPath("tool", { PATH: `${below}:.` })).toBeUndefined();
  expect(await readFile(join(two, "plain"), "utf8")).toBe("");
});

test("on Windows a script isn't taken for a program, because no shell would run it", async () => {
  vi.spyOn(process, "platform", "get").mockReturnValue("win32");
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  for (const file of [join(one, "tool.cmd"), join(one, "tool.bat"), join(two, "tool.exe")]) {
    await program(file);
  }
  expect(await findOnPath("tool", { Path: `${one}:${two}` })).toBe(join(two, "tool.exe"));
  expect(await findOnPath("tool", { PATH: one })).toBeUndefined();
});

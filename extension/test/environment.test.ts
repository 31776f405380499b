import { chmod, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { OwnEnvironment } from "../src/environment.ts";
import { findOnPath } from "../src/executable.ts";
import { Installer } from "../src/installer.ts";
import { openAnew, person } from "./vscode.ts";

let folder: string;
let storage: string;
let wheels: string;
let ran: string[][];
const said = () => {};

/** A machine on which some programs are; installing puts `vscodelm` where it belongs. */
function machine(programs: string[], broken: string[] = []): OwnEnvironment {
  const run = async (command: string, args: string[]) => {
    ran.push([command, ...args]);
    if (broken.includes(command)) {
      throw new Error(`${command} is broken`);
    }
    if (args.includes("install")) {
      await program(join(storage, "environment/bin/vscodelm"));
    }
  };
  const find = async (name: string) => (programs.includes(name) ? `/usr/bin/${name}` : undefined);
  return new OwnEnvironment({ storage, wheels }, run, find);
}

async function program(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o755);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-test-"));
  storage = join(folder, "storage");
  wheels = join(folder, "dist");
  ran = [];
  openAnew();
  await mkdir(wheels);
  await writeFile(join(wheels, "vscodelm-1.0-py3-none-any.whl"), "");
});

test("with uv an environment is made from the wheel in the extension", async () => {
  const environment = machine(["uv", "python3"]);
  expect(await environment.program()).toBeUndefined();
  await environment.create(said);
  const wheel = join(wheels, "vscodelm-1.0-py3-none-any.whl");
  const place = join(storage, "environment");
  expect(ran).toEqual([
    ["/usr/bin/uv", "venv", "--python", ">=3.11", place],
    ["/usr/bin/uv", "pip", "install", "--python", join(place, "bin/python"), wheel],
  ]);
  expect(await environment.program()).toBe(join(place, "bin/vscodelm"));
});

test("without uv the first Python that is new enough makes it", async () => {
  const environment = machine(["python3", "python3.12"], ["/usr/bin/python3"]);
  await environment.create(said);
  expect(ran.map(([command, first, second]) => [command, first, second])).toEqual([
    ["/usr/bin/python3", "-c", expect.stringContaining("version_info < (3, 11)")],
    ["/usr/bin/python3.12", "-c", expect.anything()],
    ["/usr/bin/python3.12", "-m", "venv"],
    [join(storage, "environment/bin/python"), "-m", "pip"],
  ]);
});

test("where there is neither, it says what to install", async () => {
  await expect(machine([]).create(said)).rejects.toThrow("Neither uv nor Python 3.11");
});

test("an environment of an older wheel isn't used, and needs no new question", async () => {
  const environment = machine(["uv"]);
  await environment.create(said);
  await writeFile(join(storage, "environment/installed.txt"), "vscodelm-0.9-py3-none-any.whl");
  expect(await environment.program()).toBeUndefined();
  expect(await environment.exists()).toBe(true);
  const installer = new Installer(environment, { info() {}, error() {}, show() {} });
  expect(await installer.ask()).toBe(join(storage, "environment/bin/vscodelm"));
  expect(person.asked).toEqual([]);
});

test("an environment that wasn't finished isn't one", async () => {
  const environment = machine(["uv"], ["/usr/bin/uv"]);
  await expect(environment.create(said)).rejects.toThrow("broken");
  expect(await environment.exists()).toBe(false);
});

test("a build without a wheel says so", async () => {
  const environment = new OwnEnvironment({ storage, wheels: join(folder, "none") });
  await expect(environment.create(said)).rejects.toThrow("doesn't hold vscodelm");
});

test("nothing is installed unless the user says so, once for all who ask", async () => {
  const installer = new Installer(machine(["uv"]), { info() {}, error() {}, show() {} });
  expect(await installer.ask()).toBeUndefined();
  expect(ran).toEqual([]);
  person.presses = "Install";
  const [one, other] = await Promise.all([installer.install(), installer.install()]);
  expect(one).toBe(other);
  expect(ran).toHaveLength(2);
});

test("a failed installation is told with its reason", async () => {
  const installer = new Installer(machine([]), { info() {}, error() {}, show() {} });
  expect(await installer.install()).toBeUndefined();
  expect(person.asked.at(-1)).toContain("couldn't be installed: Neither uv nor Python 3.11");
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

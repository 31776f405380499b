import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OwnEnvironment } from "../../../src/program/install/environment.ts";
import { Installer } from "../../../src/program/install/installer.ts";
import type { InstallStep } from "../../../src/program/install/run.ts";
import { commands, openAnew, person } from "../../vscode.ts";
import { bundle, type Here, machine } from "./machine.ts";

let folder: string;
let ran: InstallStep[];
let lines: string[];
let sawLog: boolean;

const log = {
  info: (line: string) => lines.push(line),
  error: (line: string) => lines.push(line),
  show: () => {
    sawLog = true;
  },
};
const places = () => ({ storage: join(folder, "storage"), bundle: join(folder, "dist") });
const on = (here: Here) =>
  new Installer(new OwnEnvironment(places(), machine(here, ran)), log as never);
const installs = () => ran.filter(({ args }) => args.includes("install"));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-test-"));
  [ran, lines, sawLog] = [[], [], false];
  openAnew();
  await bundle(places().bundle, "1.0");
});

afterEach(() => rm(folder, { recursive: true }));

test("nothing is installed unless the user says so, once for all who ask", async () => {
  const installer = on({ programs: ["uv"] });
  expect(await installer.ask()).toBeUndefined();
  expect(installs()).toEqual([]);
  person.presses = "Install";
  const [one, other] = await Promise.all([installer.install(), installer.install()]);
  expect(one).toBe(other);
  expect(installs()).toHaveLength(2);
  expect(person.stages).toContain("Installing packages");
});

test("several that need it at once have one question", async () => {
  const installer = on({ programs: ["uv"] });
  person.presses = "Install";
  const [one, other] = await Promise.all([installer.ask(), installer.ask()]);
  expect(one).toBeDefined();
  expect(other).toBe(one);
  expect(person.asked).toHaveLength(1);
});

test("who agreed once isn't asked for an update", async () => {
  const installer = on({ programs: ["uv"] });
  const before = await installer.install();
  await bundle(places().bundle, "2.0");
  const after = await installer.ask();
  expect(after).not.toBe(before);
  expect(after).toBe(await installer.program());
  expect(person.asked).toEqual([]);
});

test("the question says that a Python is downloaded, too, and why", async () => {
  const installer = on({ programs: [] });
  expect(await installer.ask()).toBeUndefined();
  expect(person.details.at(-1)).toContain("because there is no Python on PATH: some 70 MB");
  person.presses = "Install";
  const withOldUv = on({ programs: ["uv"], hasPython: false });
  expect(await withOldUv.ask()).toBeDefined();
  expect(person.asked).toHaveLength(2); // and no second question
});

test("where the command finds no Python, it asks whether to download one", async () => {
  const here = { programs: ["uv"], hasPython: false };
  expect(await on(here).install()).toBeUndefined();
  expect(person.asked[0]).toBe(
    "vscodelm needs Python 3.11 or newer, and uv finds no Python from 3.11 on here. Download one?",
  );
  expect(installs()).toEqual([]);
  person.presses = "Download Python";
  expect(await on(here).install()).toBeDefined();
});

test("a failed update says so, and the one before goes on", async () => {
  const before = await on({ programs: ["uv"] }).install();
  await bundle(places().bundle, "2.0");
  const failing = on({ programs: ["uv"], broken: { "--require-hashes": "dns error" } });
  expect(await failing.install()).toBe(before);
  expect(person.asked).toEqual([
    "vscodelm couldn't be installed. The package index https://***@index.example/simple can't be reached: the network is offline, or a proxy is missing. The older installation is still used.",
  ]);
  expect(lines.join("\n")).not.toContain("secret");
});

test.each(["Try Again", "Show Log"])("a failure offers what can be done: %s", async (button) => {
  const again = vi.fn();
  commands.registerCommand("vscodelm.install", again);
  person.presses = button;
  expect(await on({ programs: ["uv"], broken: { venv: "no" } }).install()).toBeUndefined();
  await vi.waitFor(() => expect([again.mock.calls.length > 0, sawLog]).toContain(true));
  expect(sawLog).toBe(button === "Show Log");
});

test("who cancels isn't told of a failure", async () => {
  person.cancelsAt = "Installing packages";
  expect(await on({ programs: ["uv"] }).install()).toBeUndefined();
  expect(person.asked).toEqual([]);
  expect(lines).toContain("The installation was cancelled.");
  expect(await readdir(join(places().storage, "environments"))).toEqual([]);
});

test("a window that closes ends its installation", async () => {
  const here = machine({ programs: ["uv"] });
  const run: typeof here.run = async (step, work) => {
    if (step.args.includes("venv")) {
      installer.dispose();
    }
    return here.run(step, work);
  };
  const environment = new OwnEnvironment(places(), { ...here, run });
  const installer = new Installer(environment, log as never);
  expect(await installer.install()).toBeUndefined();
  expect(lines).toContain("The installation was cancelled.");
});

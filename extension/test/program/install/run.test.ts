import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { INSTALL_STEP_MS, MAX_INSTALL_OUTPUT_BYTES } from "../../../src/limits.ts";
import { ProgramFailed, runStep } from "../../../src/program/install/run.ts";
import { Told } from "./machine.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-run-"));
});

afterEach(() => rm(folder, { recursive: true }));

const shell = (script: string) => ({ command: "/bin/sh", args: ["-c", script], folder });
const node = (script: string) => ({ command: process.execPath, args: ["-e", script], folder });

test("what a program prints is returned, and what it complains of is logged, too", async () => {
  const told = new Told();
  expect(await runStep(shell("echo out; echo err >&2; printf rest"), told)).toBe("out\nrest");
  expect(told.lines[0]).toBe("> /bin/sh -c echo out; echo err >&2; printf rest");
  expect(told.lines.slice(1).sort()).toEqual(["err", "out", "rest"]);
});

test("a program works in the folder that it is given, with the variables that it is given", async () => {
  const step = { ...shell('echo "$PWD $ONE"'), env: { ONE: "1" } };
  expect(await runStep(step, new Told())).toBe(`${folder} 1\n`);
});

test("passwords of indexes are neither in the log nor in the failure", async () => {
  const told = new Told();
  const half = "process.stdout.write('see https://me:sec'); ";
  const whole = "setTimeout(() => { console.log('ret@host/simple'); process.exit(3) }, 50)";
  const failed = await runStep(node(half + whole), told).catch((error) => error);
  expect(failed).toBeInstanceOf(ProgramFailed);
  expect(failed.message).toMatch(/exited with status 3: see https:\/\/\*\*\*@host\/simple$/);
  expect(told.lines.at(-1)).toBe("see https://***@host/simple");
  expect(told.lines.slice(1).join("\n")).not.toContain("secret");
});

test("of what a program prints only the end is kept", async () => {
  const lots = `process.stdout.write("x".repeat(${MAX_INSTALL_OUTPUT_BYTES}) + "end")`;
  const printed = await runStep(node(lots), new Told());
  expect(printed).toHaveLength(MAX_INSTALL_OUTPUT_BYTES);
  expect(printed.endsWith("end")).toBe(true);
});

test("a program that takes too long is ended, and what it has started can't hold that up", async () => {
  const told = new Told();
  const running = runStep(shell("echo begun; sleep 20 & exec sleep 20"), told, 300);
  await expect(running).rejects.toThrow("sh didn't end in 0.3 seconds.");
  expect(told.lines).toContain("begun");
  await runStep(shell("true"), new Told(), INSTALL_STEP_MS);
});

test("who cancels ends the program, and all that it has started", async () => {
  const told = new Told("go");
  const script = `sleep 300 & echo $! > child; echo begun; wait`;
  const running = runStep(shell(script), told);
  running.catch(() => {});
  await vi.waitFor(() => expect(told.lines).toContain("begun"), { timeout: 20_000 });
  const child = Number(await readFile(join(folder, "child"), "utf8"));
  onTestFinished(() => {
    spawnSync("kill", [`${child}`]); // where the test has failed
  });
  told.stage("go");
  await expect(running).rejects.toThrow("was cancelled");
  await vi.waitFor(async () => expect(await isRunning(child)).toBe(false), { timeout: 20_000 });
  await expect(runStep(shell("true"), told)).rejects.toThrow("was cancelled");
});

async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(state); // one that nobody has buried yet
}

test("a program that isn't there is a failure", async () => {
  const running = runStep({ command: "/nowhere/uv", args: [], folder }, new Told());
  await expect(running).rejects.toThrow("ENOENT");
});

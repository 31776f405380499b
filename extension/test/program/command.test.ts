import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { COMMAND_MS, MAX_COMMAND_OUTPUT_BYTES } from "../../src/limits.ts";
import { runProgram } from "../../src/program/command.ts";

const launch = { command: process.execPath, args: ["-e"], env: process.env, cwd: tmpdir() };
const bounds = { maxBuffer: MAX_COMMAND_OUTPUT_BYTES, timeout: COMMAND_MS };
const print = (size: number) => [`process.stdout.write("x".repeat(${size}))`];

test("what a command prints is returned, up to its limit and no more", async () => {
  const few = { ...bounds, maxBuffer: 1000 };
  expect(await runProgram(launch, print(1000), few)).toHaveLength(1000);
  await expect(runProgram(launch, print(1001), few)).rejects.toThrow(
    "printed more than 1000 bytes.",
  );
});

test("a command that takes too long is ended", async () => {
  const running = runProgram(launch, ["setInterval(() => {}, 1000)"], { ...bounds, timeout: 100 });
  await expect(running).rejects.toThrow("didn't end in 0.1 seconds.");
});

test("a command that fails is told with its complaints, or else its status", async () => {
  const complaining = ["console.error('no registry'); process.exit(3)"];
  await expect(runProgram(launch, complaining)).rejects.toThrow(/^no registry$/);
  await expect(runProgram(launch, ["process.exit(3)"])).rejects.toThrow("Command failed");
  await expect(runProgram({ ...launch, command: "a\0b" }, [])).rejects.toThrow("path holds a NUL");
});

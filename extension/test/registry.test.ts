import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { idOf } from "../src/add_agent.ts";
import { runProgram } from "../src/program.ts";
import { readOffers } from "../src/registry.ts";

test("the registry's agents are read from what the program prints", () => {
  const agents = [{ id: "goose", name: "Goose", readiness: "ready" }];
  expect(readOffers(JSON.stringify({ configured: [], registry: { agents } }))).toEqual(agents);
  expect(readOffers(JSON.stringify({ registry: {} }))).toEqual([]);
});

test("where there is no index, its reason is told", () => {
  const problem = "Its index was never fetched.";
  expect(() => readOffers(JSON.stringify({ registry: null, problem }))).toThrow(problem);
});

test("a command is run with its launch, and its complaint is the error", async () => {
  const launch = {
    command: process.execPath,
    args: ["--no-warnings"],
    env: { A: "1" },
    cwd: tmpdir(),
  };
  const print = ["-e", "console.log(process.env.A, process.cwd())"];
  expect(await runProgram(launch, print)).toBe(`1 ${tmpdir()}\n`);
  const fail = ["-e", "console.error('no such agent'); process.exit(1)"];
  await expect(runProgram(launch, fail)).rejects.toThrow(/^no such agent$/);
});

test.each([
  ["/usr/bin/My Agent", "my-agent"],
  ["openai-gpt-5.4", "openai-gpt-5.4"],
  ["ollama-gpt-oss:20b", "ollama-gpt-oss-20b"],
])("%s gives the id %s", (name, id) => {
  expect(idOf(name)).toBe(id);
});

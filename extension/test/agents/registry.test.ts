import { tmpdir } from "node:os";
import { beforeEach, expect, test } from "vitest";
import { addFromRegistry, readOffers } from "../../src/agents/registry.ts";
import { runProgram } from "../../src/program/command.ts";
import type { Launch } from "../../src/program/start.ts";
import { openAnew, person } from "../vscode.ts";

beforeEach(openAnew);

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

const AGENTS = [
  { id: "goose", name: "Goose", description: "It flies", readiness: "ready" },
  { id: "auggie", name: "Auggie", readiness: "not installed" },
  { id: "magpie", name: "Magpie", readiness: "ready", neverAsks: true },
];

/** A program that tells of these agents, and takes only what it is told to take. */
function program(takes: string): Launch {
  const index = JSON.stringify({ registry: { agents: AGENTS } });
  const code = `
    const told = process.argv.slice(1).join(" ");
    if (told === "agents --refresh --json") console.log(${JSON.stringify(index)});
    else if (told !== ${JSON.stringify(takes)}) throw new Error("told: " + told);`;
  return { command: process.execPath, args: ["-e", code, "--"], env: { A: "1" }, cwd: tmpdir() };
}

test("who is chosen from the registry becomes a model", async () => {
  person.picks = ["Goose"];
  const id = await addFromRegistry(async () => program("agents add goose --write"));
  expect(id).toBe("goose");
  expect(person.lists).toEqual([["Goose", "Auggie", "Magpie"]]);
  expect(person.terminals).toEqual([]);
  expect(person.asked).toEqual([]);
});

test("of an agent that never asks the person hears when it is added", async () => {
  person.picks = ["Magpie"];
  await addFromRegistry(async () => program("agents add magpie --write"));
  expect(person.asked).toEqual([expect.stringContaining("Magpie acts without asking")]);
});

test("who isn't installed is installed before the person's eyes", async () => {
  person.picks = ["Auggie"];
  const launched = program("agents add auggie --write");
  expect(await addFromRegistry(async () => launched)).toBe("auggie");
  expect(person.terminals).toEqual([
    {
      name: "Install Auggie",
      shellPath: launched.command,
      shellArgs: [...launched.args, "agents", "install", "auggie"],
      env: { A: "1" },
      cwd: tmpdir(),
      isTransient: true,
    },
  ]);
});

test("who leaves the registry has added nobody", async () => {
  expect(await addFromRegistry(async () => program("nothing"))).toBeUndefined();
});

test("a program that refuses an agent is heard", async () => {
  person.picks = ["Goose"];
  const adding = addFromRegistry(async () => program("nothing"));
  await expect(adding).rejects.toThrow("told: agents add goose --write");
});

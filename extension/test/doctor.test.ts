import { mkdtemp, readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readAgents } from "../src/agents.ts";
import { runDoctor } from "../src/doctor.ts";
import { Models } from "../src/models.ts";
import { Memory } from "./memory.ts";
import { openAnew, person } from "./vscode.ts";

const variables = { workspaceFolder: "/project", userHome: "/home/me", env: {} };
const offered = {
  ...{ id: "own", name: "own", family: "own", version: "1" },
  ...{ maxInputTokens: 1, maxOutputTokens: 1, capabilities: {} },
};
const launched = { command: "/bin/vscodelm", args: ["--x"], env: { KEY: "k" }, cwd: "/project" };

let storage: string;
let models: Models;

beforeEach(async () => {
  openAnew();
  storage = join(await mkdtemp(join(tmpdir(), "vscodelm-doctor-")), "storage");
  const configured = { mine: { agent: { acp: { command: "mine", env: { TOKEN: "t" } } } } };
  const quiet = { info() {}, warn() {} };
  const read = () => readAgents(configured, {}, variables);
  models = new Models(new Memory(), read, async () => [offered], quiet);
  await models.refresh();
});

test("a model of the settings is examined as it is set, in a file for nobody else's eyes", async () => {
  person.picks = ["mine"];
  await runDoctor(models, async () => launched, storage);
  expect(person.lists).toEqual([["mine", "own"]]);
  const file = join(storage, "doctor.toml");
  expect(person.terminals).toEqual([
    {
      name: "vscodelm doctor mine",
      shellPath: "/bin/vscodelm",
      shellArgs: ["--x", "doctor", "--config", file, "mine"],
      env: { KEY: "k" },
      cwd: "/project",
      isTransient: true, // what is kept of a terminal holds its variables
    },
  ]);
  expect(await readFile(file, "utf8")).toContain('id = "mine"');
  expect((await stat(file)).mode & 0o077).toBe(0);
});

test("a model that vscodelm knows by itself needs no file", async () => {
  person.picks = ["own"];
  await runDoctor(models, async () => launched, storage);
  expect(person.terminals.map(({ shellArgs }) => shellArgs)).toEqual([["--x", "doctor", "own"]]);
  await expect(readdir(storage)).rejects.toThrow("ENOENT");
});

test("who leaves the list starts nothing", async () => {
  const launch = async () => {
    throw new Error("nobody chose");
  };
  await runDoctor(models, launch, storage);
  expect(person.terminals).toEqual([]);
});

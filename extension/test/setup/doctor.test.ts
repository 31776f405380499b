import { chmod, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { readAgents } from "../../src/agents/agents.ts";
import { Models } from "../../src/chat/models.ts";
import type { Told } from "../../src/mcp/servers.ts";
import type { Launch } from "../../src/program/start.ts";
import type { Stats } from "../../src/program/wire.ts";
import { Doctor } from "../../src/setup/doctor.ts";
import { Fixer } from "../../src/setup/fixes.ts";
import { Memory } from "../memory.ts";
import { buttonsIn, closeDocument, openAnew, person } from "../vscode.ts";

const variables = { workspaceFolder: "/project", userHome: "/home/me", env: {} };
const offered = {
  ...{ id: "own", name: "own", family: "own", version: "1" },
  ...{ maxInputTokens: 1, maxOutputTokens: 1, capabilities: {} },
};
const log = { error: (line: string) => person.log.push(line), show() {} };
/** Processes take their time to start where every core is busy. */
const SOON = { timeout: 20_000 };

const counted = {
  ...{ requestsByClass: {}, requestsByHarness: {}, matchesByRule: {}, missesByReason: {} },
  ...{ liveConversations: 0, sessions: 0, processes: 0 },
};

let folder: string;
let storage: string;
let models: Models;

beforeEach(async () => {
  openAnew();
  folder = await mkdtemp(join(tmpdir(), "vscodelm-doctor-"));
  storage = join(folder, "storage");
  const configured = { odd: 1, mine: { agent: { acp: { command: "mine", env: { TOKEN: "t" } } } } };
  const quiet = { info() {}, warn() {} };
  const read = () => readAgents(configured, {}, variables);
  const faults = { odd: "The model 'odd' can't be used: it is odd." };
  models = new Models(new Memory(), read, async () => ({ models: [offered], faults }), quiet);
  await models.refresh();
});

/** Return a doctor whose program is a script of the shell; it is run in the test's folder. */
async function doctorWith(
  script: string,
  stats: () => Promise<Stats> = async () => counted,
  servers: Told[] = [],
): Promise<Doctor> {
  const command = join(folder, "vscodelm");
  await writeFile(command, `#!/bin/sh\n${script}\n`);
  await chmod(command, 0o755);
  const launch: Launch = { command, args: ["--x"], env: { ...process.env, KEY: "k" }, cwd: folder };
  const fixer = new Fixer({
    setKey: async () => true,
    logIn: async () => true,
    environment: () => ({}),
    log,
  });
  const places = { models, launch: async () => launch, stats, storage, fixer, log };
  return new Doctor({ ...places, mcpServers: async () => servers });
}

function printing(report: object, status = 0): string {
  return `cat <<'END'\n${JSON.stringify({ agent: "x", ...report })}\nEND\nexit ${status}`;
}

const healthy = printing({
  usable: true,
  findings: [{ step: "command", state: "ok", summary: "/bin/x", facts: { runs: "x --acp" } }],
});
const sick = printing(
  {
    usable: false,
    findings: [
      {
        step: "command",
        state: "failed",
        summary: "npx was not found",
        advice: "npx comes with Node.js.",
        fixes: [
          { type: "page", title: "Install Node.js", url: "https://nodejs.org/en/download" },
          { type: "later", title: "Of another version" },
        ],
      },
    ],
  },
  1,
);

function addresses(): string[] {
  return [...person.documents.keys()];
}

test("a model of the settings is examined as it is set, in a file for nobody else's eyes", async () => {
  person.picks = ["mine"];
  const doctor = await doctorWith(
    `echo "$@" > asked; cp "$5" config; ls -l "$5" > mode; echo "$KEY" > key; ${healthy}`,
  );
  await doctor.run();
  expect(person.lists).toEqual([["mine", "own", "odd"]]);
  const asked = await readFile(join(folder, "asked"), "utf8");
  expect(asked).toMatch(/^--x doctor --json --config \S+doctor\.json mine\n$/);
  const { models } = JSON.parse(await readFile(join(folder, "config"), "utf8"));
  const agent = { acp: { command: "mine", env: { TOKEN: "t" } } };
  expect(models).toEqual([{ id: "mine", agent, settings: {} }]);
  expect(await readFile(join(folder, "mode"), "utf8")).toMatch(/^-rw-------/);
  expect(await readFile(join(folder, "key"), "utf8")).toBe("k\n");
  expect(await readdir(storage)).toEqual([]);
});

test("the report on a model that can't be read has the program's words", async () => {
  person.picks = ["odd"];
  await (await doctorWith("touch ran")).run();
  expect([...person.documents.values()][0]).toContain("The model 'odd' can't be used: it is odd.");
  expect(await readdir(folder)).toEqual(["vscodelm"]); // nothing ran
});

test("the report of an agent that can be used stays open", async () => {
  person.picks = ["own"];
  await (await doctorWith(healthy)).run();
  expect(addresses()).toEqual(["vscodelm-doctor:/1/Doctor's Report on own.md"]);
  const text = [...person.documents.values()][0];
  expect(text).toContain("own can be used.");
  expect(text).toContain("- command, ok: /bin/x\n  - runs: x --acp");
  expect([...buttonsIn(addresses()[0] ?? "").keys()]).toEqual(["Examine Again"]);
  expect(person.asked).toEqual([]);
});

test("the report says which harness asked last, where the program can tell", async () => {
  person.picks = ["own", "own"];
  const newestRequest = { harness: "agentHost", offersProgress: false };
  const stats = vi.fn<() => Promise<Stats>>();
  stats.mockResolvedValueOnce({ ...counted, newestRequest });
  stats.mockRejectedValueOnce(new Error("it doesn't run"));
  const doctor = await doctorWith(healthy, stats);
  await doctor.run();
  await doctor.run();
  const [told = "", untold = ""] = [...person.documents.values()];
  expect(told).toContain("## The chats of this window");
  expect(told).toContain("VS Code's Agent Host. It didn't offer the tool vscodelm-progress");
  expect(untold).toContain("own can be used.");
  expect(untold).not.toContain("The chats of this window");
});

test("the user's MCP servers are named with their status", async () => {
  const servers = [{ name: "issues\n# x", status: "handed over to agents" }];
  const doctor = await doctorWith(healthy, undefined, servers);
  person.picks = ["own", "own"];
  await doctor.run();
  servers.length = 0;
  await doctor.run();
  const [told, untold] = [...person.documents.values()];
  expect(told).toContain("## Your MCP servers\n\n- issues?# x: handed over to agents\n");
  expect(untold).not.toContain("MCP servers");
});

test("the report of one that can't has a button for each fix", async () => {
  person.picks = ["own"];
  person.presses = "Install Node.js";
  await (await doctorWith(sick)).run();
  const [address = ""] = addresses();
  expect(person.documents.get(address)).toContain(
    "own can't be used as it is: npx was not found\n\nnpx comes with Node.js.",
  );
  expect(person.asked).toEqual(["own can't be used as it is: npx was not found"]);
  await vi.waitFor(() => expect(person.pages).toHaveLength(1), SOON);
  const buttons = buttonsIn(address);
  expect([...buttons.keys()]).toEqual(["Install Node.js", "Examine Again"]);
  await buttons.get("Install Node.js")?.();
  expect(person.pages).toEqual(Array(2).fill("https://nodejs.org/en/download"));
  await buttons.get("Examine Again")?.();
  expect(addresses()).toHaveLength(2);
});

test("a doctor that can't begin tells that in its report", async () => {
  person.picks = ["own"];
  await (await doctorWith("echo 'Error: no model' >&2; exit 1")).run();
  expect([...person.documents.values()][0]).toContain("can't be used as it is: Error: no model");
});

test("two doctors at once have a file and a report each", async () => {
  person.picks = ["mine", "mine"];
  const both = 'echo "$5" >> asked; while [ $(wc -l < asked) -lt 2 ]; do sleep 0.05; done';
  const doctor = await doctorWith(`${both}; cat "$5" > /dev/null && ${healthy}`);
  await Promise.all([doctor.run(), doctor.run()]);
  const files = (await readFile(join(folder, "asked"), "utf8")).trim().split("\n");
  expect(new Set(files).size).toBe(2);
  expect(addresses()).toHaveLength(2);
  expect([...person.documents.values()].every((text) => text.includes("can be used."))).toBe(true);
});

test("a doctor that is cancelled ends in its own way, and leaves no report", async () => {
  person.picks = ["own"];
  person.cancels = () => vi.waitFor(() => readFile(join(folder, "begun")), SOON);
  const doctor = await doctorWith(
    "trap 'echo > cleared; exit 143' TERM; sleep 30 & echo > begun; wait",
  );
  await doctor.run();
  expect(addresses()).toEqual([]);
  await vi.waitFor(() => readFile(join(folder, "cleared")), SOON);
  expect(await readdir(storage)).toEqual([]);
});

test("a report that was closed is forgotten", async () => {
  person.picks = ["own"];
  await (await doctorWith(healthy)).run();
  const [address = ""] = addresses();
  closeDocument(address);
  expect(buttonsIn(address).size).toBe(0);
});

test("who leaves the list starts nothing", async () => {
  const doctor = await doctorWith("echo > asked");
  await doctor.run();
  expect(await readdir(folder)).toEqual(["vscodelm"]);
});

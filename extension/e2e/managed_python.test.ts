// An installation on a machine without Python and without uv, with the real uv: it comes as a wheel from
// an index of the test's own, and so does all that it installs; the Python is an archive of this one.
// Nothing else is on PATH, and no other server is asked.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { OwnEnvironment } from "../src/program/install/environment.ts";
import { platformName } from "../src/program/install/uv.ts";
import { zip } from "../test/program/install/archive.ts";
import { bundle, Told } from "../test/program/install/machine.ts";
import { FileServer } from "./file_server.ts";
import { PYTHON, REPOSITORY } from "./places.ts";

const run = promisify(execFile);
const UV_WHEEL = "uv-9.9.9-py3-none-any.whl";
const NEEDED = "needed-1.0-py3-none-any.whl";

vi.setConfig({ testTimeout: 240_000 });

/** The folder of a Python that is no environment. */
let systemPython: string;
let files: Map<string, Buffer>;
let server: FileServer;
/** The address of uv's list of Pythons. */
let downloads: string;

let folder: string;
const places = () => ({ storage: join(folder, "storage"), bundle: join(folder, "dist") });
const environment = (find = async (_: string): Promise<string | undefined> => undefined) =>
  new OwnEnvironment(places(), { find, index: async () => `${server.address}/simple` });
const names = (what: string) => readdir(join(places().storage, what)).catch(() => []);
const hash = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** A wheel with one module, and a program if it has a `main`. */
function wheel(name: string, version: string, code: string): Buffer {
  const about = `${name}-${version}.dist-info`;
  const scripts = `[console_scripts]\n${name} = ${name}:main\n`;
  const texts: Record<string, string> = {
    [`${name}.py`]: code,
    [`${about}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${about}/WHEEL`]: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    ...(code.includes("def main") ? { [`${about}/entry_points.txt`]: scripts } : {}),
  };
  const record = Object.keys({ ...texts, [`${about}/RECORD`]: "" }).map((path) => `${path},,\n`);
  const all = { ...texts, [`${about}/RECORD`]: record.join("") };
  return zip(Object.entries(all).map(([path, text]) => ({ path, content: Buffer.from(text) })));
}

const NEEDED_WHEEL = wheel("needed", "1.0", "WORD = 'needed'\n");

/** Put a vscodelm of a version into the extension; it says its version, with the help of its package. */
async function extension(version: string, needed = hash(NEEDED_WHEEL)): Promise<void> {
  const code = `import needed\ndef main():\n    print(needed.WORD, "${version}")\n`;
  const sum = hash(files.get(`/files/${UV_WHEEL}`) ?? Buffer.alloc(0));
  const pin = {
    version: "9.9.9",
    files: { [await platformName()]: { name: UV_WHEEL, sha256: sum } },
  };
  await rm(places().bundle, { recursive: true, force: true });
  await bundle(places().bundle, version, {
    [`vscodelm-${version}-py3-none-any.whl`]: wheel("vscodelm", version, code),
    "requirements.txt": `needed==1.0 \\\n    --hash=sha256:${needed}\n`,
    "uv.json": JSON.stringify(pin),
  });
}

async function says(program: string | undefined): Promise<string> {
  return (await run(program ?? "", [])).stdout.trim();
}

beforeAll(async () => {
  server = await FileServer.start();
  files = server.files;
  downloads = await server.servePython();
  const base = "import sys; print(sys.base_prefix)";
  systemPython = join((await run(PYTHON, ["-c", base])).stdout.trim(), "bin");
  const uv = await readFile(join(PYTHON, "../uv"));
  files.set(`/files/${UV_WHEEL}`, zip([{ path: "uv-9.9.9.data/scripts/uv", content: uv }]));
  files.set(`/files/${NEEDED}`, NEEDED_WHEEL);
  for (const [name, file] of [
    ["uv", UV_WHEEL],
    ["needed", NEEDED],
  ]) {
    files.set(`/simple/${name}`, Buffer.from(`<a href="/files/${file}">${file}</a>`));
  }
});

afterAll(() => server?.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-managed-"));
  await mkdir(join(folder, "empty"));
  vi.stubEnv("PATH", join(folder, "empty"));
  vi.stubEnv("HOME", join(folder, "home"));
  vi.stubEnv("XDG_CACHE_HOME", undefined);
  vi.stubEnv("XDG_DATA_HOME", undefined);
  vi.stubEnv("PIP_CONFIG_FILE", "/dev/null");
  vi.stubEnv("PIP_FIND_LINKS", undefined);
  vi.stubEnv("UV_PYTHON_DOWNLOADS_JSON_URL", downloads);
  await extension("1.0");
});

afterEach(async () => {
  server.hanging.clear();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

test("without Python and uv both are fetched, and an update uses them again", async () => {
  await expect(environment().create(new Told())).rejects.toThrow("there is no Python on PATH");
  const told = new Told();
  await environment().create(told, true);
  const program = await environment().program();
  expect(await says(program)).toBe("needed 1.0");
  expect(told.stages).toEqual([
    "Looking for Python",
    "Downloading uv",
    "Downloading Python",
    "Making the environment",
    "Installing packages",
    "Trying it out",
  ]);
  const [uv, pythons] = [await names("uv"), await names("pythons")];
  expect([uv, pythons.length]).toEqual([["9.9.9"], 1]);
  expect(existsSync(join(folder, "home"))).toBe(false); // nothing outside the extension's folder
  await extension("2.0");
  const again = new Told();
  await environment().create(again);
  expect(again.stages.filter((stage) => stage.startsWith("Downloading"))).toEqual([]);
  expect(await says(await environment().program())).toBe("needed 2.0");
  expect(await says(program)).toBe("needed 1.0"); // which another window may still run
  expect(await names("pythons")).toEqual(pythons);
});

test("a Python without venv is used by the uv that is fetched", async () => {
  vi.stubEnv("PATH", systemPython);
  const told = new Told();
  await environment().create(told, true);
  expect(told.stages).not.toContain("Downloading Python");
  expect(await says(await environment().program())).toBe("needed 1.0");
  expect(await names("pythons")).toEqual([]);
});

test("a package whose hash differs is refused by uv, and by pip", async () => {
  const other = "0".repeat(64);
  await environment().create(new Told(), true);
  await extension("2.0", other);
  await expect(environment().create(new Told())).rejects.toMatchObject({ reason: "changed" });
  vi.stubEnv("PIP_INDEX_URL", `${server.address}/simple`);
  const withPip = environment(async (name) => (name === "python3" ? PYTHON : undefined));
  await expect(withPip.create(new Told())).rejects.toMatchObject({ reason: "changed" });
  expect(await says(await environment().anyProgram())).toBe("needed 1.0");
  expect(await names("environments")).toHaveLength(1);
  await extension("2.0");
  await withPip.create(new Told());
  expect(await says(await environment().program())).toBe("needed 2.0");
});

test("an index that can't be reached is told by uv's words, and by pip's", async () => {
  await environment().create(new Told(), true);
  await extension("2.0");
  const gone = "http://127.0.0.1:9/simple";
  vi.stubEnv("PIP_INDEX_URL", gone);
  vi.stubEnv("PIP_RETRIES", "0");
  vi.stubEnv("UV_HTTP_RETRIES", "0");
  for (const found of [undefined, PYTHON]) {
    const offline = new OwnEnvironment(places(), {
      find: async (name) => (name === "python3" ? found : undefined),
      index: async () => gone,
    });
    await expect(offline.create(new Told())).rejects.toThrow(
      `The package index ${gone} can't be reached`,
    );
  }
  vi.stubEnv("UV_PYTHON_DOWNLOADS_JSON_URL", "http://127.0.0.1:9/downloads.json");
  await rm(join(places().storage, "pythons"), { recursive: true });
  await expect(environment().create(new Told())).rejects.toThrow(
    "The server that uv downloads Python from can't be reached",
  );
});

test.each([
  ["Downloading uv", `/files/${UV_WHEEL}`],
  ["Downloading Python", "/python.tar.gz"],
  ["Installing packages", `/files/${NEEDED}`],
])("cancelled in the middle, nothing is left: %s", async (stage, path) => {
  server.hanging.add(path);
  const told = new Told("cancel");
  const creating = environment().create(told, true);
  creating.catch(() => {});
  await vi.waitFor(() => expect(told.stages).toContain(stage), { timeout: 30_000 });
  await isAwaited(path);
  told.stage("cancel");
  await expect(creating).rejects.toThrow("was cancelled");
  expect([await names("environments"), await names("pythons")]).toEqual([[], []]);
  expect(await readdir(places().storage)).not.toContain("environment.json");
  server.hanging.clear();
  await environment().create(new Told(), true);
  expect(await says(await environment().program())).toBe("needed 1.0");
});

test.each([
  ["Downloading Python", "/python.tar.gz"],
  ["Installing packages", `/files/${NEEDED}`],
])(
  "a window that is killed leaves what works, and the next one cleans up: %s",
  async (at, path) => {
    vi.stubEnv("PATH", systemPython);
    await environment().create(new Told(), true);
    vi.stubEnv("PATH", join(folder, "empty"));
    await extension("2.0");
    server.hanging.add(path);
    const child = window();
    await stageOf(child, at);
    await isAwaited(path);
    const left = await startedBy(child);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(await says(await environment().anyProgram())).toBe("needed 1.0");
    expect(await names("environments")).toHaveLength(at === "Downloading Python" ? 1 : 2);
    server.hanging.clear();
    server.cut();
    // What it had started waits still, and then goes on: until it has ended, it may write.
    await vi.waitFor(() => expect(left.filter(isRunning)).toEqual([]), { timeout: 60_000 });
    await environment().create(new Told(), true);
    expect(await says(await environment().program())).toBe("needed 2.0");
    expect(await names("environments")).toHaveLength(2);
    expect(await names("pythons")).toHaveLength(1);
  },
);

async function isAwaited(path: string): Promise<void> {
  await vi.waitFor(() => expect(server.awaited).toContain(path), { timeout: 30_000 });
}

/** Return the processes that another has started. */
async function startedBy({ pid }: ChildProcess): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(/\s+/).map(Number);
}

function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !readFileSync(stat, "utf8").includes(") Z ");
}

function window(): ChildProcess {
  const script = join(REPOSITORY, "extension/e2e/install_child.ts");
  const { storage, bundle } = places();
  return spawn(process.execPath, ["--experimental-transform-types", script, storage, bundle], {
    env: { ...process.env, UV_DEFAULT_INDEX: `${server.address}/simple` },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function stageOf(child: ChildProcess, stage: string): Promise<void> {
  if (child.stdout === null) {
    throw new Error("it says nothing");
  }
  for await (const line of createInterface(child.stdout)) {
    if (line === stage) {
      return;
    }
  }
  throw new Error(`it ended before ${stage}`);
}

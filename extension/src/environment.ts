// An environment of the extension's own, for who has no vscodelm: made from the wheel in the extension,
// so it always fits, and of no name that somebody else could hold in a package index.

import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { findOnPath, isExecutable } from "./executable.ts";

export interface EnvironmentPlaces {
  /** Where the extension may keep things: the environment is a folder in it. */
  storage: string;
  /** The folder that holds the wheel. */
  wheels: string;
}

/** Run a program to its end; what it says goes to `said`. Rejects if it fails. */
export type Run = (command: string, args: string[], said: (text: string) => void) => Promise<void>;

const STAMP = "installed.txt";
const OLDEST_PYTHON = [3, 11];
const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

export class OwnEnvironment {
  private readonly folder: string;

  constructor(
    private readonly places: EnvironmentPlaces,
    private readonly run: Run = runProgram,
    private readonly find: (name: string) => Promise<string | undefined> = findOnPath,
  ) {
    this.folder = join(places.storage, "environment");
  }

  /** Return the program of the environment, if it is there and from this extension's wheel. */
  async program(): Promise<string | undefined> {
    const program = join(this.binaries, process.platform === "win32" ? "vscodelm.exe" : "vscodelm");
    return (await this.isCurrent()) && (await isExecutable(program)) ? program : undefined;
  }

  /** Whether one was made, if from an older wheel. */
  async exists(): Promise<boolean> {
    return (await this.stamp()) !== undefined;
  }

  /** Make it, or make it anew; what is done goes to `said`. */
  async create(said: (text: string) => void): Promise<void> {
    const wheel = await this.wheel();
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.places.storage, { recursive: true });
    const python = join(this.binaries, process.platform === "win32" ? "python.exe" : "python");
    const uv = await this.find("uv");
    if (uv !== undefined) {
      await this.run(uv, ["venv", "--python", ">=3.11", this.folder], said);
      await this.run(uv, ["pip", "install", "--python", python, wheel], said);
    } else {
      const base = await this.python(said);
      await this.run(base, ["-m", "venv", this.folder], said);
      await this.run(
        python,
        ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", wheel],
        said,
      );
    }
    await writeFile(join(this.folder, STAMP), basename(wheel));
  }

  private get binaries(): string {
    return join(this.folder, process.platform === "win32" ? "Scripts" : "bin");
  }

  private async wheel(): Promise<string> {
    const files = await readdir(this.places.wheels).catch(() => []);
    const wheel = files.find((file) => file.endsWith(".whl"));
    if (wheel === undefined) {
      throw new Error("This build of the extension doesn't hold vscodelm: install that yourself.");
    }
    return join(this.places.wheels, wheel);
  }

  private async isCurrent(): Promise<boolean> {
    const stamp = await this.stamp();
    return stamp !== undefined && stamp === basename(await this.wheel().catch(() => ""));
  }

  private stamp(): Promise<string | undefined> {
    return readFile(join(this.folder, STAMP), "utf8").catch(() => undefined);
  }

  private async python(said: (text: string) => void): Promise<string> {
    const condition = `import ensurepip, sys; sys.exit(sys.version_info < (${OLDEST_PYTHON.join(", ")}))`;
    for (const name of PYTHONS) {
      const python = await this.find(name);
      if (python === undefined) {
        continue;
      }
      try {
        await this.run(python, ["-c", condition], said);
        return python;
      } catch {
        said(`${python} isn't Python ${OLDEST_PYTHON.join(".")} or newer, with venv.\n`);
      }
    }
    throw new Error(
      `Neither uv nor Python ${OLDEST_PYTHON.join(".")} (with venv) is on PATH. Install one of them and try again.`,
    );
  }
}

const runProgram: Run = (command, args, said) =>
  new Promise((resolve, reject) => {
    said(`> ${[command, ...args].join(" ")}\n`);
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let last = "";
    const read = (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      last = text.trim().split("\n").at(-1) || last;
      said(text);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0
        ? resolve()
        : reject(new Error(`${basename(command)} exited with status ${status}: ${last}`)),
    );
  });

// An environment of the extension's own, for who has no vscodelm: made from the wheel in the extension,
// so it always fits, and of no name that somebody else could hold in a package index.
//
// Each is built in a folder of its own, because an environment can't be moved. A small file says which one
// counts, and is replaced in one step when the new one is complete: until then, and if that fails, the
// old one is as it was. The one before is kept, because a program of another window may still run in it.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { findOnPath, isExecutable } from "./executable.ts";
import { INSTALL_STEP_MS } from "./limits.ts";
import { type Clock, realClock, withLock } from "./lock.ts";

export interface EnvironmentPlaces {
  /** Where the extension may keep things: the environment is a folder in it. */
  storage: string;
  /** The folder that holds the wheel. */
  wheels: string;
}

/**
 * Run a program to its end; what it says goes to `said`. Rejects if it fails. It works in a folder of ours:
 * installers read settings of the folder that they work in, and Python its modules.
 */
export type Run = (
  command: string,
  args: string[],
  said: (text: string) => void,
  folder: string,
) => Promise<void>;

/** Which environment counts. */
interface Current {
  folder: string;
  /** The wheel that it was made from. */
  wheel: string;
  /** The folder of the one before. */
  previous?: string;
}

const OLDEST_PYTHON = [3, 11];
const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

export class OwnEnvironment {
  constructor(
    private readonly places: EnvironmentPlaces,
    private readonly run: Run = runProgram,
    private readonly find: (name: string) => Promise<string | undefined> = findOnPath,
    private readonly clock: Clock = realClock,
  ) {}

  /** Return the program of the environment, if it is there and from this extension's wheel. */
  async program(): Promise<string | undefined> {
    const current = await this.current();
    const wheel = basename(await this.wheel().catch(() => ""));
    return current?.wheel === wheel ? this.programIn(current.folder) : undefined;
  }

  /** Return the program of the environment, if from an older wheel. */
  async anyProgram(): Promise<string | undefined> {
    const current = await this.current();
    return current && this.programIn(current.folder);
  }

  /** Whether one was made, if from an older wheel. */
  async exists(): Promise<boolean> {
    return (await this.current()) !== undefined;
  }

  /**
   * Make one, and have it count from then on; what is done goes to `said`. If another window makes one
   * at the moment, that is waited for, and taken. If it fails, the one before counts as it did.
   */
  async create(said: (text: string) => void): Promise<void> {
    const wheel = await this.wheel();
    await mkdir(this.environments, { recursive: true });
    const lock = join(this.places.storage, "environment.lock");
    await withLock(lock, (waited) => this.createAlone(wheel, waited, said), this.clock);
  }

  private async createAlone(
    wheel: string,
    waited: boolean,
    said: (text: string) => void,
  ): Promise<void> {
    if (waited && (await this.program()) !== undefined) {
      said("Another window has installed it.\n");
      return;
    }
    const before = await this.current();
    await this.sweep(before);
    const folder = randomUUID();
    try {
      await this.build(join(this.environments, folder), wheel, said);
    } catch (error) {
      await rm(join(this.environments, folder), { recursive: true, force: true });
      throw error;
    }
    const previous = before === undefined ? {} : { previous: before.folder };
    const current: Current = { folder, wheel: basename(wheel), ...previous };
    const written = join(this.environments, `${folder}.json`);
    await writeFile(written, JSON.stringify(current));
    await rename(written, this.pointer);
  }

  private async build(folder: string, wheel: string, said: (text: string) => void): Promise<void> {
    const run = (command: string, ...args: string[]) =>
      this.run(command, args, said, this.places.storage);
    const python = join(binaries(folder), isWindows ? "python.exe" : "python");
    const uv = await this.find("uv");
    if (uv !== undefined) {
      await run(uv, "venv", "--python", ">=3.11", folder);
      await run(uv, "pip", "install", "--python", python, wheel);
    } else {
      await run(await this.python(said), "-m", "venv", folder);
      const quietly = ["--disable-pip-version-check", "--no-input"];
      await run(python, "-m", "pip", "install", ...quietly, wheel);
    }
    await run(programOf(folder), "--version"); // what can't run doesn't take the place of what can
  }

  /** Remove what is left of installations that were cut off, and environments from before the last. */
  private async sweep(current: Current | undefined): Promise<void> {
    const kept = [current?.folder, current?.previous];
    const names = (await readdir(this.environments)).filter((name) => !kept.includes(name));
    for (const name of names) {
      // Some systems don't remove what is in use; the next time will do.
      await rm(join(this.environments, name), { recursive: true, force: true }).catch(() => {});
    }
  }

  private get environments(): string {
    return join(this.places.storage, "environments");
  }

  private get pointer(): string {
    return join(this.places.storage, "environment.json");
  }

  private async current(): Promise<Current | undefined> {
    try {
      const { folder, wheel, previous } = JSON.parse(await readFile(this.pointer, "utf8"));
      return typeof folder === "string" && typeof wheel === "string"
        ? { folder, wheel, ...(typeof previous === "string" ? { previous } : {}) }
        : undefined;
    } catch {
      return undefined; // there is none, or none that can be read
    }
  }

  private async programIn(folder: string): Promise<string | undefined> {
    const program = programOf(join(this.environments, basename(folder)));
    return (await isExecutable(program)) ? program : undefined;
  }

  private async wheel(): Promise<string> {
    const files = await readdir(this.places.wheels).catch(() => []);
    const wheel = files.find((file) => file.endsWith(".whl"));
    if (wheel === undefined) {
      throw new Error("This build of the extension doesn't hold vscodelm: install that yourself.");
    }
    return join(this.places.wheels, wheel);
  }

  private async python(said: (text: string) => void): Promise<string> {
    const condition = `import ensurepip, sys; sys.exit(sys.version_info < (${OLDEST_PYTHON.join(", ")}))`;
    for (const name of PYTHONS) {
      const python = await this.find(name);
      if (python === undefined) {
        continue;
      }
      try {
        await this.run(python, ["-c", condition], said, this.places.storage);
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

const isWindows = process.platform === "win32";

function binaries(folder: string): string {
  return join(folder, isWindows ? "Scripts" : "bin");
}

function programOf(folder: string): string {
  return join(binaries(folder), isWindows ? "vscodelm.exe" : "vscodelm");
}

/** As `Run` says, and it rejects where the program takes longer than `limitMs`. */
export function runProgram(
  command: string,
  args: string[],
  said: (text: string) => void,
  folder: string,
  limitMs = INSTALL_STEP_MS,
): Promise<void> {
  return new Promise((resolve, reject) => {
    said(`> ${[command, ...args].join(" ")}\n`);
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const child = spawn(command, args, { cwd: folder, stdio, windowsHide: true });
    const tooLate = setTimeout(() => {
      child.kill("SIGKILL");
      child.stdout.destroy(); // what it has started may have them open still
      child.stderr.destroy();
      reject(new Error(`${basename(command)} didn't end in ${limitMs / 1000} seconds.`));
    }, limitMs);
    let last = "";
    const read = (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      last = text.trim().split("\n").at(-1) || last;
      said(text);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", (error) => {
      clearTimeout(tooLate);
      reject(error);
    });
    child.once("close", (status) => {
      clearTimeout(tooLate);
      if (status === 0) {
        resolve();
      } else {
        reject(new Error(`${basename(command)} exited with status ${status}: ${last}`));
      }
    });
  });
}

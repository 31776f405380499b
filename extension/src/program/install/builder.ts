// Builds an environment in a folder, with the Python and uv of the machine or with downloaded ones.
// Each failure becomes one sentence, which names the place that the files come from.

import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "./bundle.ts";
import { diskFull, explain, InstallFailure } from "./failure.ts";
import { pythonOfUv, type Tools, WANTED } from "./pythons.ts";
import type { Run } from "./run.ts";
import { obtainUv } from "./uv.ts";
import type { Work } from "./work.ts";

/** The extension's folders: the working folder of programs, and the folder of builds. */
export interface BuildPlaces {
  storage: string;
  environments: string;
  pythons: string;
  uvs: string;
}

interface BuildMachine {
  run: Run;
  /** Return the address of the user's package index. */
  index: () => Promise<string>;
}

export class Builder {
  constructor(
    private readonly places: BuildPlaces,
    private readonly bundle: Bundle,
    private readonly machine: BuildMachine,
    private readonly work: Work,
  ) {}

  /** Build one in its folder; return the folder of its Python, if that was downloaded. */
  async build(
    name: string,
    tools: Tools,
    pythonBefore: string | undefined,
  ): Promise<string | undefined> {
    const folder = join(this.places.environments, name);
    if (tools.kind === "venv") {
      await this.buildWithVenv(tools.python, folder);
      return undefined;
    }
    if (tools.kind === "uv") {
      await this.buildWithUv(tools.uv, {}, tools.python, folder);
      return undefined;
    }
    const [uv, env] = tools.uv === undefined ? await this.fetchUv() : [tools.uv, {}];
    const found = await pythonOfUv(this.machine.run, uv, this.places.storage, this.work, env);
    if (found !== undefined) {
      await this.buildWithUv(uv, env, found, folder); // such as one without venv
      return undefined;
    }
    const [python, place] = await this.obtainPython(uv, env, pythonBefore, name);
    await this.buildWithUv(uv, env, python, folder);
    return place;
  }

  private async buildWithVenv(python: string, folder: string): Promise<void> {
    this.work.stage("Making the environment");
    await this.step({}, python, "-m", "venv", folder);
    // It says only with retries that a connection failed, and else that there is no such version.
    const quietly = ["--disable-pip-version-check", "--no-input", "--retries", "2"];
    const pip = ["-m", "pip", "install", ...quietly];
    const strictly = ["--require-hashes", "--only-binary", ":all:", "-r", this.bundle.requirements];
    const own = pythonIn(folder);
    this.work.stage("Installing packages");
    await this.step({}, own, ...pip, ...strictly);
    await this.step({}, own, ...pip, "--no-index", "--no-deps", this.bundle.wheel);
    await this.tryOut(folder);
  }

  private async buildWithUv(
    uv: string,
    env: Record<string, string>,
    python: string,
    folder: string,
  ): Promise<void> {
    this.work.stage("Making the environment");
    await this.step(env, uv, "venv", "--python", python, folder);
    const pip = ["pip", "install", "--python", pythonIn(folder)];
    this.work.stage("Installing packages");
    const strictly = ["--require-hashes", "--no-build", "-r", this.bundle.requirements];
    await this.step(env, uv, ...pip, ...strictly);
    await this.step(env, uv, ...pip, "--no-index", "--no-deps", this.bundle.wheel);
    await this.tryOut(folder);
  }

  /** An environment that can't run never replaces one that can. */
  private async tryOut(folder: string): Promise<void> {
    this.work.stage("Trying it out");
    await this.step({}, programOf(folder), "--version");
  }

  /** Return a uv of the extension's own, and the variables that it is run with. */
  private async fetchUv(): Promise<[string, Record<string, string>]> {
    const index = await this.machine.index();
    try {
      const uv = await obtainUv(this.bundle.uv, index, this.places.uvs, this.work);
      // It takes everything from where it came from itself, and leaves nothing outside our folder.
      return [uv, { UV_DEFAULT_INDEX: index, UV_NO_CACHE: "1" }];
    } catch (error) {
      this.work.signal.throwIfAborted();
      throw explain(error, `The package index ${index}`);
    }
  }

  /**
   * Return a Python that uv installs, and the name of its folder: the earlier one, if it is there.
   */
  private async obtainPython(
    uv: string,
    env: Record<string, string>,
    before: string | undefined,
    name: string,
  ): Promise<[string, string]> {
    const ours = (place: string) => ({
      ...env,
      UV_PYTHON_INSTALL_DIR: join(this.places.pythons, place),
      UV_PYTHON_INSTALL_BIN: "0",
      UV_PYTHON_INSTALL_REGISTRY: "0",
      UV_PYTHON_PREFERENCE: "only-managed",
    });
    const find = (place: string) =>
      pythonOfUv(this.machine.run, uv, this.places.storage, this.work, ours(place));
    const kept = before && (await find(before));
    if (before && kept) {
      return [kept, before];
    }
    this.work.stage("Downloading Python");
    const args = ["python", "install", WANTED];
    try {
      await this.machine.run(
        { command: uv, args, folder: this.places.storage, env: ours(name) },
        this.work,
      );
    } catch (error) {
      this.work.signal.throwIfAborted();
      throw explain(error, "The server that uv downloads Python from");
    }
    const python = await find(name);
    if (python === undefined) {
      throw new InstallFailure("python", "uv has installed a Python, but doesn't find it.");
    }
    return [python, name];
  }

  private async step(
    env: Record<string, string>,
    command: string,
    ...args: string[]
  ): Promise<void> {
    try {
      await this.machine.run({ command, args, folder: this.places.storage, env }, this.work);
    } catch (error) {
      this.work.signal.throwIfAborted();
      const why = explain(error, `The package index ${await this.machine.index()}`);
      throw why instanceof InstallFailure || !(await this.isFull()) ? why : diskFull();
    }
  }

  /** Whether the disk is full: some programs fail then without saying so. */
  private async isFull(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.places.storage);
    return bavail * bsize < NEARLY_FULL_BYTES;
  }
}

const NEARLY_FULL_BYTES = 1024 * 1024;

const isWindows = process.platform === "win32";

function binaries(folder: string): string {
  return join(folder, isWindows ? "Scripts" : "bin");
}

function pythonIn(folder: string): string {
  return join(binaries(folder), isWindows ? "python.exe" : "python");
}

/** Return the program in an environment. */
export function programOf(folder: string): string {
  return join(binaries(folder), isWindows ? "vscodelm.exe" : "vscodelm");
}

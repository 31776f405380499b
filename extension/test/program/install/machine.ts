// A machine on which something is installed: programs that behave as uv, Python and pip do as far as it
// matters here, a person who may cancel, and a package of the extension to install from.

import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Machine } from "../../../src/program/install/environment.ts";
import type { Clock } from "../../../src/program/install/lock.ts";
import { type InstallStep, ProgramFailed, type Run } from "../../../src/program/install/run.ts";
import { Cancelled, type Work } from "../../../src/program/install/work.ts";

/** A clock whose waits are over at once, and on which all windows are given their turns. */
export const clock: Clock = {
  now: () => 0,
  wait: () => new Promise((resolve) => setImmediate(resolve)),
  every: () => () => {},
};

/** What an installation has said, and where it is cancelled. */
export class Told implements Work {
  readonly lines: string[] = [];
  readonly stages: string[] = [];
  private readonly controller = new AbortController();

  constructor(private readonly cancelsAt?: string) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  said = (line: string) => {
    this.lines.push(line);
  };

  stage = (what: string) => {
    this.stages.push(what);
    if (what === this.cancelsAt) {
      this.controller.abort(new Cancelled());
    }
  };
}

export interface Here {
  /** The programs on PATH. */
  programs: string[];
  /** What fails, by a piece of its command line, with what it says then. */
  broken?: Record<string, string>;
  /** Whether uv finds a Python of the system's. */
  hasPython?: boolean;
  /** What a Python says of itself. */
  pythons?: Record<string, string>;
}

/** Return a machine; what is run on it goes to `ran`. */
export function machine(here: Here, ran: InstallStep[] = []): Required<Machine> {
  const { programs, broken = {}, hasPython = true, pythons = {} } = here;
  const run: Run = async (step, work) => {
    work.signal.throwIfAborted();
    ran.push(step);
    const { command, args, env = {} } = step;
    const line = [command, ...args].join(" ");
    const failing = Object.keys(broken).find((piece) => line.includes(piece));
    if (failing !== undefined) {
      throw new ProgramFailed(`${command} exited with status 1: no`, broken[failing] ?? "");
    }
    if (args[0] === "python" && args[1] === "find") {
      const own = join(env.UV_PYTHON_INSTALL_DIR ?? "", "python3");
      const isManaged = env.UV_PYTHON_PREFERENCE === "only-managed";
      const found = isManaged
        ? await readFile(own).then(
            () => own,
            () => "",
          )
        : "/usr/bin/python3";
      if (found === "" || (!isManaged && !hasPython)) {
        throw new ProgramFailed("uv exited with status 2", "No interpreter found");
      }
      return `${found}\n`;
    }
    if (args[0] === "python" && args[1] === "install") {
      await program(join(env.UV_PYTHON_INSTALL_DIR ?? "", "python3"));
    }
    if (args.includes("-c")) {
      return pythons[command] ?? "CPython 3 12 True\n";
    }
    if (args.includes("venv")) {
      await program(join(args.at(-1) ?? "", "bin/vscodelm"));
    }
    return "";
  };
  const find = async (name: string) => (programs.includes(name) ? `/usr/bin/${name}` : undefined);
  return { run, find, clock, index: async () => "https://me:secret@index.example/simple" };
}

export async function program(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o755);
}

/** Put a bundle of a version into a folder, as `make vsix` does. */
export async function bundle(
  folder: string,
  version: string,
  files: Record<string, string | Buffer> = {},
) {
  const contents: Record<string, string | Buffer> = {
    [`vscodelm-${version}-py3-none-any.whl`]: version,
    "requirements.txt": "",
    "uv.json": '{"version": "1.2.3", "files": {}}',
    ...files,
  };
  await mkdir(folder, { recursive: true });
  const sums = Object.entries(contents).map(([name, text]) => {
    const sum = createHash("sha256").update(text).digest("hex");
    return `${sum}  ${name}\n`;
  });
  await writeFile(join(folder, "SHA256SUMS"), sums.join(""));
  for (const [name, text] of Object.entries(contents)) {
    await writeFile(join(folder, name), text);
  }
}

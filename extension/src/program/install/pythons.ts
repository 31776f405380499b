// The tools on this machine that can make an environment: uv, or a Python with venv. Each Python is
// run, because a name on PATH says nothing: it can be too old, too new, or stand for nothing at
// all.

import { findOnPath } from "../executable.ts";
import type { Run } from "./run.ts";
import type { Work } from "./work.ts";

export const OLDEST = [3, 11];
/** The first version that is too new: the pinned packages have no wheels there. */
const TOO_NEW = [3, 15];
/** The range of versions that uv may install. */
export const WANTED = `cpython>=${OLDEST.join(".")},<${TOO_NEW.join(".")}`;
/** macOS's own: too old, and a mere offer, in a window, to download developer tools where there are none. */
const OF_MACOS = "/usr/bin/python3";
const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

/** The tools that can make an environment, or the reason why there are none. */
export type Tools =
  | { kind: "uv"; uv: string; python: string }
  | { kind: "venv"; python: string }
  | { kind: "none"; uv?: string; why: string };

export type Find = (name: string) => Promise<string | undefined>;

/** Look for tools on this machine. This downloads nothing, and forbids uv to. */
export async function findTools(
  run: Run,
  folder: string,
  work: Work,
  find: Find = findOnPath,
  platform: NodeJS.Platform = process.platform,
): Promise<Tools> {
  const uv = await find("uv");
  if (uv !== undefined && (await canRun(run, uv, folder, work))) {
    const python = await pythonOfUv(run, uv, folder, work);
    const why = `uv finds no Python from ${OLDEST.join(".")} on here`;
    return python === undefined ? { kind: "none", uv, why } : { kind: "uv", uv, python };
  }
  const misfits: string[] = [];
  for (const name of NAMES) {
    const python = await find(name);
    const isOfMacos = platform === "darwin" && python === OF_MACOS;
    const misfit = isOfMacos
      ? "is macOS's own, which is too old"
      : python && (await whyUnfit(run, python, folder, work));
    if (python !== undefined && misfit === undefined) {
      return { kind: "venv", python };
    }
    if (misfit) {
      misfits.push(`${python} ${misfit}`);
    }
  }
  return { kind: "none", why: misfits[0] ?? "there is no Python on PATH" };
}

async function canRun(run: Run, command: string, folder: string, work: Work): Promise<boolean> {
  try {
    await run({ command, args: ["--version"], folder }, work);
    return true;
  } catch {
    work.signal.throwIfAborted();
    return false; // a version manager's shim can stand for nothing
  }
}

/** Return a Python that uv finds: by itself, or only among its own in the folder of `env`. */
export async function pythonOfUv(
  run: Run,
  uv: string,
  folder: string,
  work: Work,
  env: Record<string, string> = {},
): Promise<string | undefined> {
  const args = ["python", "find", "--system", WANTED];
  const never = { UV_PYTHON_DOWNLOADS: "never", ...env };
  try {
    return (await run({ command: uv, args, folder, env: never }, work)).trim() || undefined;
  } catch (error) {
    work.signal.throwIfAborted();
    work.said(String(error));
    return undefined;
  }
}

const LOOK = [
  "import platform, sys",
  "import importlib.util as found",
  "has_venv = all(map(found.find_spec, ('venv', 'ensurepip')))",
  "print(platform.python_implementation(), *sys.version_info[:2], has_venv)",
].join("\n");

/** Return why a Python can't be used, undefined if it can. */
async function whyUnfit(
  run: Run,
  python: string,
  folder: string,
  work: Work,
): Promise<string | undefined> {
  let said: string;
  try {
    said = await run({ command: python, args: ["-I", "-c", LOOK], folder }, work);
  } catch {
    work.signal.throwIfAborted();
    return "can't be run";
  }
  const [implementation, major, minor, hasVenv] = said.trim().split(" ");
  const [version, oldest, newest] = [[Number(major), Number(minor)], OLDEST, TOO_NEW];
  const name = `${major}.${minor}`;
  if (implementation !== "CPython") {
    return `is ${implementation}, not CPython`;
  }
  if (isBefore(version, oldest) || !isBefore(version, newest)) {
    return `is Python ${name}, and one from ${oldest.join(".")} to before ${newest.join(".")} is needed`;
  }
  return hasVenv === "True"
    ? undefined
    : `is Python ${name} without venv (Debian and Ubuntu have it in the package python${name}-venv)`;
}

function isBefore([major = 0, minor = 0]: number[], [first = 0, second = 0]: number[]): boolean {
  return major < first || (major === first && minor < second);
}

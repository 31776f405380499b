// Finds a program on PATH, as a shell would find it.

import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** What can be started without a shell: scripts of Windows can't. */
const WITHOUT_SHELL = process.platform === "win32" ? [".exe"] : [""];
/** The endings of programs in the shells of Windows, in their order; PATHEXT may have another. */
const OF_WINDOWS = [".com", ".exe", ".bat", ".cmd"];

/**
 * Return the file of a program on PATH, undefined if there is none. Only absolute folders count: the
 * others stand for folders below the one that is open, which must not choose what is run.
 */
export async function findOnPath(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  endings: readonly string[] = WITHOUT_SHELL,
): Promise<string | undefined> {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const file = await withEnding(join(folder, name), endings);
    if (file !== undefined) {
      return file;
    }
  }
  return undefined;
}

/** Return the file of a program with the first ending that it has, undefined if there is none. */
export async function withEnding(
  path: string,
  endings: readonly string[],
): Promise<string | undefined> {
  const isWhole = endings.some((ending) => path.toLowerCase().endsWith(ending));
  for (const ending of isWhole ? [""] : endings) {
    if (await isExecutable(path + ending)) {
      return path + ending;
    }
  }
  return undefined;
}

/** Return the endings that a shell adds to the name of a program. */
export function shellEndings(
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): string[] {
  if (platform !== "win32") {
    return [""];
  }
  const named = (env.PATHEXT ?? "").toLowerCase().split(";");
  const known = named.filter((ending) => OF_WINDOWS.includes(ending));
  return known.length > 0 ? known : OF_WINDOWS;
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

// Finds a program on PATH, as a shell would find it.

import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Return the file of a program on PATH, undefined if there is none. Only absolute folders count: the
 * others stand for folders below the one that is open, which must not choose what is run.
 */
export async function findOnPath(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  suffix = process.platform === "win32" ? ".exe" : "", // scripts need a shell, which nothing here has
): Promise<string | undefined> {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const file = join(folder, name + suffix);
    if (await isExecutable(file)) {
      return file;
    }
  }
  return undefined;
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

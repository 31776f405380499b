// The file of variables that an entry names with `envFile`. Its variables are as good as those of the entry:
// a consent to the entry is one to them, too.

import { unwatchFile, watchFile } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { parseEnv } from "node:util";
import { ENV_FILE_MS, MAX_SETTINGS_BYTES } from "../limits.ts";

export interface EnvFile {
  path: string;
  /** Absent if it can't be read. */
  variables?: Record<string, string>;
}

/** Read the variables of a file; rejects with the code of what hinders it. */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  const found = await stat(path);
  if (!found.isFile()) {
    throw Object.assign(new Error(), { code: "no file" });
  }
  if (found.size > MAX_SETTINGS_BYTES) {
    throw Object.assign(new Error(), { code: "too large" });
  }
  return { ...parseEnv(await readFile(path, "utf8")) } as Record<string, string>;
}

/**
 * Call `changed` whenever a file changes, appears or goes; return what ends that. The editor's watchers
 * don't see all files: settings exclude some, and a remote machine may have no watcher for folders.
 */
export function watchEnvFile(path: string, changed: () => void): { dispose(): void } {
  const look = () => changed();
  watchFile(path, { interval: ENV_FILE_MS, persistent: false }, look);
  return { dispose: () => unwatchFile(path, look) };
}

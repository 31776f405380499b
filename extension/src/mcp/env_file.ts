// The file of variables that an entry names with `envFile`. Its variables are as good as those of the entry:
// a consent to the entry is one to them, too.

import { readFile, stat } from "node:fs/promises";
import { parseEnv } from "node:util";
import { MAX_SETTINGS_BYTES } from "../limits.ts";

export interface EnvFile {
  path: string;
  variables: Record<string, string>;
}

/** Read a file of variables; rejects with the code of what hinders it. */
export async function readEnvFile(path: string): Promise<EnvFile> {
  const found = await stat(path);
  if (!found.isFile()) {
    throw Object.assign(new Error(), { code: "no file" });
  }
  if (found.size > MAX_SETTINGS_BYTES) {
    throw Object.assign(new Error(), { code: "too large" });
  }
  return { path, variables: { ...parseEnv(await readFile(path, "utf8")) } as EnvFile["variables"] };
}

// The package index that the user has configured for uv or for pip. The extension needs it on
// machines without both, and names it where it can't be reached.

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export const DEFAULT_INDEX = "https://pypi.org/simple";

interface IndexSources {
  env: NodeJS.ProcessEnv;
  home: string;
  platform: NodeJS.Platform;
}

/** Return the address of the index, without a slash at its end. */
export async function configuredIndex(
  { env, home, platform }: IndexSources = {
    env: process.env,
    home: homedir(),
    platform: process.platform,
  },
): Promise<string> {
  const named = env.UV_DEFAULT_INDEX || env.UV_INDEX_URL || env.PIP_INDEX_URL;
  const found = named || (await inFiles(pipFiles({ env, home, platform }))) || DEFAULT_INDEX;
  const index = found.replace(NAME, "");
  let end = index.length;
  while (index[end - 1] === "/") {
    end--;
  }
  return index.slice(0, end);
}

/** uv lets an index have a name, which stands before its address. */
const NAME = /^[\w-]+=(?=https?:)/;

async function inFiles(files: string[]): Promise<string | undefined> {
  for (const file of files) {
    const index = namedIndex(await readFile(file, "utf8").catch(() => ""));
    if (index !== undefined) {
      return index;
    }
  }
  return undefined;
}

/** Return pip's files of settings, the one that counts most first. */
export function pipFiles({ env, home, platform }: IndexSources): string[] {
  const named = env.PIP_CONFIG_FILE ? [env.PIP_CONFIG_FILE] : [];
  if (platform === "win32") {
    const roaming = env.APPDATA ?? join(home, "AppData/Roaming");
    const shared = env.PROGRAMDATA ?? "C:/ProgramData";
    return [...named, ...[roaming, home, shared].map((folder) => join(folder, "pip/pip.ini"))];
  }
  const own = env.XDG_CONFIG_HOME || join(home, ".config");
  const mac = [
    join(home, "Library/Application Support/pip/pip.conf"),
    "/Library/Application Support/pip/pip.conf",
  ];
  return [
    ...named,
    join(own, "pip/pip.conf"),
    join(home, ".pip/pip.conf"),
    ...(platform === "darwin" ? mac : []),
    "/etc/xdg/pip/pip.conf",
    "/etc/pip.conf",
  ];
}

/** Return the index that a file of pip's names, for installations or for everything. */
export function namedIndex(text: string): string | undefined {
  const found = new Map<string, string>();
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const [, heading] = /^\[([^\]]+)\]/.exec(line) ?? [];
    section = heading ?? section;
    const [, value] = /^index[-_]url\s*[=:](.*)$/.exec(line) ?? [];
    if (value?.trim()) {
      found.set(section, value.trim());
    }
  }
  return found.get("install") ?? found.get("global");
}

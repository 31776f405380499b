// The files for an installation that come with the extension: the wheel of vscodelm, its packages
// with their hashes, and the uv to fetch. One file names the hash of each.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InstallFailure } from "./failure.ts";

const SUMS = "SHA256SUMS";

export interface Bundle {
  wheel: string;
  requirements: string;
  uv: UvPin;
}

/** Which uv to fetch, by platform. */
export interface UvPin {
  version: string;
  files: Record<string, { name: string; sha256: string } | undefined>;
}

/** Return a name for the content of the bundle: another content has another name. */
export async function bundleName(folder: string): Promise<string | undefined> {
  const sums = await readFile(join(folder, SUMS)).catch(() => undefined);
  return sums && sha256(sums);
}

/** Return the bundle, after comparing each file with its hash. */
export async function readBundle(folder: string): Promise<Bundle> {
  const sums = await readFile(join(folder, SUMS), "utf8").catch(() => undefined);
  if (sums === undefined) {
    throw new InstallFailure(
      "damaged",
      "This build of the extension doesn't contain vscodelm. Install vscodelm yourself.",
    );
  }
  const names: string[] = [];
  for (const line of sums.split("\n").filter((text) => text !== "")) {
    const [sum = "", name = ""] = line.split("  ");
    const content = await readFile(join(folder, name)).catch(() => undefined);
    if (content === undefined || sha256(content) !== sum) {
      throw new InstallFailure(
        "damaged",
        `This copy of the extension is damaged (${name}): install the extension again.`,
      );
    }
    names.push(name);
  }
  const wheel = names.find((name) => name.endsWith(".whl")) ?? "";
  return {
    wheel: join(folder, wheel),
    requirements: join(folder, "requirements.txt"),
    uv: JSON.parse(await readFile(join(folder, "uv.json"), "utf8")),
  };
}

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

// The package of the extension under test, as a person installs it.

import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createVSIX, listFiles, PackageManager } from "@vscode/vsce";
import { OUTPUT, REPOSITORY } from "./places.ts";

const EXTENSION = join(REPOSITORY, "extension");

export async function packaged(): Promise<string> {
  const folder = join(EXTENSION, "dist");
  const files = await readdir(folder).catch(() => [] as string[]);
  const file = files.find((name) => name.endsWith(".vsix"));
  if (file === undefined) {
    throw new Error("there is no package of the extension: `make vsix` makes it");
  }
  return join(folder, file);
}

/** Make a package that differs in one point: it says that it is for this version of VS Code, too. */
export async function packagedFor(version: string): Promise<string> {
  const folder = join(OUTPUT, `package-${version}`);
  const files = await listFiles({ cwd: EXTENSION, packageManager: PackageManager.None });
  for (const name of [...files, ".vscodeignore"]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await cp(join(EXTENSION, name), join(folder, name));
  }
  const file = join(folder, "package.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  manifest.engines.vscode = `^${version}.0`;
  // What only those who build it need; their versions would have to fit.
  delete manifest.devDependencies;
  await writeFile(file, JSON.stringify(manifest));
  const packagePath = join(OUTPUT, `for-${version}.vsix`);
  // As long as the package names no repository, its README has no pictures to lead there.
  const withoutRepository = { allowMissingRepository: true, rewriteRelativeLinks: false };
  await createVSIX({ cwd: folder, packagePath, dependencies: false, ...withoutRepository });
  return packagePath;
}

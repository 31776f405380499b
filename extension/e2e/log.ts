// The log of the extension, as a file: the editor of the tests keeps none.

import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { E2E, OUTPUT } from "./places.ts";

export class Log {
  private readonly file: string;

  /** `name` is the editor's. */
  constructor(name: string) {
    this.file = join(OUTPUT, name, "extension.log");
  }

  /** What the editor must be started with. */
  get env(): Record<string, string> {
    return { LOG_OUTPUT: this.file };
  }

  /** Put the code that writes the file before the installed extension. */
  prepare = async (extensions: string): Promise<void> => {
    const ours = join(extensions, "vscodelm.vscodelm-0.1.0");
    await copyFile(join(E2E, "inside/logged.cjs"), join(ours, "dist/logged.cjs"));
    const manifest = join(ours, "package.json");
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, text.replace("./dist/extension.cjs", "./dist/logged.cjs"));
  };

  text(): Promise<string> {
    return readFile(this.file, "utf8");
  }
}

// Bundles the extension into one file. `vscode` is the host's own; everything else is ours.
import { readFile } from "node:fs/promises";
import { build } from "esbuild";

// The licenses of what is bundled want to go along.
const BUNDLED = {
  shlex: ["https://github.com/rgov/node-shlex", "LICENSE"],
  "jsonc-parser": ["https://github.com/microsoft/node-jsonc-parser", "LICENSE.md"],
};
const licenses = await Promise.all(
  Object.entries(BUNDLED).map(async ([name, [home, file]]) => {
    const license = new URL(`node_modules/${name}/${file}`, import.meta.url);
    return `This file contains ${name} (${home}).\n\n${await readFile(license, "utf8")}`;
  }),
);

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  mainFields: ["module", "main"], // the other form of jsonc-parser can't be bundled
  target: "node22",
  external: ["vscode"],
  banner: {
    js: `/*\n${licenses.join("\n")}*/`,
  },
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
});

// Bundles the extension into one file. `vscode` is the host's own; everything else is ours.
import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { wholePieces } from "./whole_pieces.mjs";

// The licenses of what is bundled want to go along.
const license = (file) => readFile(new URL(`node_modules/${file}`, import.meta.url), "utf8");
const shlex = await license("shlex/LICENSE");
const jsonc = await license("jsonc-parser/LICENSE.md");

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  external: ["vscode"],
  mainFields: ["module", "main"], // jsonc-parser's other form loads its files when it runs
  banner: {
    js: `/*
This file contains shlex (https://github.com/rgov/node-shlex).

${shlex}
It contains jsonc-parser (https://github.com/microsoft/node-jsonc-parser).

${jsonc}*/`,
  },
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
  plugins: [wholePieces],
});

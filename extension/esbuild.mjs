// Bundles the extension into one file. `vscode` is the host's own; everything else is ours.
import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { wholePieces } from "./whole_pieces.mjs";

// The license of what is bundled wants to go along.
const license = await readFile(new URL("node_modules/shlex/LICENSE", import.meta.url), "utf8");

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  external: ["vscode"],
  banner: {
    js: `/*\nThis file contains shlex (https://github.com/rgov/node-shlex).\n\n${license}*/`,
  },
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
  plugins: [wholePieces],
});

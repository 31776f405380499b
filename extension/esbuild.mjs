// Bundles the extension into one file. `vscode` is the host's own; everything else is ours.
import { readFile } from "node:fs/promises";
import { build } from "esbuild";

// The license of what is bundled wants to go along.
const license = await readFile(new URL("node_modules/shlex/LICENSE", import.meta.url), "utf8");

// Python and the extension read the same filter of tokens: the bundle has the file's bytes in it.
const wholePieces = {
  name: "whole-pieces",
  setup(bundling) {
    bundling.onLoad({ filter: /whole_pieces\.ts$/ }, async () => {
      const file = new URL("../bridge/tokens/whole_pieces.bin", import.meta.url);
      const base64 = (await readFile(file)).toString("base64");
      return { contents: `export const wholePieces = () => Buffer.from("${base64}", "base64");` };
    });
  },
};

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

// Bundles the extension into one file. `vscode` is the host's own; everything else is ours.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  external: ["vscode"],
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
});

// That the bundle counts as the sources do: it has the filter's bytes in it, and reads no file.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";
import { wholePieces as read } from "../../src/tokens/whole_pieces.ts";
// @ts-expect-error: it is a part of the build, which has no types
import { WHOLE_PIECES, wholePieces } from "../../whole_pieces.mjs";

const MOST_GROWTH = 500_000;

async function bundled(module: string, plugin: Plugin = wholePieces): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../src/${module}.ts`, import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["vscode"],
    mainFields: ["module", "main"],
    write: false,
    plugins: [plugin],
  });
  return (outputFiles[0] as { text: string }).text;
}

test("the sources read the file that Python reads", () => {
  expect(Buffer.compare(read(), readFileSync(WHOLE_PIECES))).toBe(0);
});

test("the bundle has the same bytes, and reads no file", async () => {
  const code = await bundled("tokens/text");
  expect(code).not.toContain("readFileSync");
  expect(code).toContain(readFileSync(WHOLE_PIECES).toString("base64"));
});

test("the package grows little by the filter, which is in the bundle and in the wheel", async () => {
  const without: Plugin = {
    name: "without",
    setup: ({ onLoad }) =>
      onLoad({ filter: /whole_pieces\.ts$/ }, () => ({
        contents: "export const wholePieces = () => new Uint8Array();",
      })),
  };
  const packed = (content: string | Buffer) => deflateRawSync(content).length;
  const bundle = packed(await bundled("extension")) - packed(await bundled("extension", without));
  const growth = bundle + packed(readFileSync(WHOLE_PIECES));
  expect(growth).toBeGreaterThan(2 * 190_000); // a byte for each token, twice
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test("the prices and the filter are unpacked by the first count, and once", async () => {
  const code = await bundled("tokens/text");
  const counter = await import(
    `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`
  );
  const unpack = Buffer.from;
  let unpacked = 0;
  Buffer.from = ((...given: Parameters<typeof unpack>) => {
    unpacked += 1;
    return unpack(...given);
  }) as typeof Buffer.from;
  try {
    expect(counter.estimateText("The quick brown fox jumps over the lazy dog.")).toBe(10);
    expect(unpacked).toBe(2);
    counter.estimateText("again");
    expect(unpacked).toBe(2);
  } finally {
    Buffer.from = unpack;
  }
});

// Python and the extension read the same filter of tokens: the bundle has the file's bytes in it.
import { readFile } from "node:fs/promises";

export const WHOLE_PIECES = new URL("../bridge/tokens/whole_pieces.bin", import.meta.url);

/** Puts the file in place of the module that reads it. */
export const wholePieces = {
  name: "whole-pieces",
  setup(bundling) {
    bundling.onLoad({ filter: /whole_pieces\.ts$/ }, async () => {
      const base64 = (await readFile(WHOLE_PIECES)).toString("base64");
      return { contents: `export const wholePieces = () => Buffer.from("${base64}", "base64");` };
    });
  },
};

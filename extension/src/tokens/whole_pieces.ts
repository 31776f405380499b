// The bytes of `bridge/tokens/whole_pieces.bin`. The bundle has the file in place of this module
// (`esbuild.mjs`), so that there is one copy of it here.

import { readFileSync } from "node:fs";

/** Return the bytes of the filter. */
export function wholePieces(): Uint8Array {
  return readFileSync(new URL("../../../bridge/tokens/whole_pieces.bin", import.meta.url));
}

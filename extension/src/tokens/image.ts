// Estimates the tokens of an image: `bridge/tokens/images.py` once more.

const PER_IMAGE = 1600;
const BASE = 85;
const PER_TILE = 85;
const TILE_SIDE = 512;
const LONGEST_SIDE = 2048;
const BYTES_PER_PIXEL = 3;
const MOST = 1700;

/** Estimate the tokens of an image of so many bytes. */
export function estimateImage(size: number, family = ""): number {
  if (/anthropic|claude/i.test(family)) {
    return PER_IMAGE;
  }
  const side = Math.min(Math.sqrt(size / BYTES_PER_PIXEL), LONGEST_SIDE);
  return Math.min(BASE + Math.ceil(side / TILE_SIDE) ** 2 * PER_TILE, MOST);
}

// Estimates the tokens of an image by its size in pixels: `bridge/tokens/images.py` once more, where
// the formulas are explained.

type Size = readonly [width: number, height: number];

/** In Base64, as many bytes as Python reads. */
const READ_CHARACTERS = (196_608 / 3) * 4;
const LONGEST_SIDE = 65_535;
/** The size of an image that doesn't tell its own. */
const DEFAULT_SIZE: Size = [1920, 1080];

const OPENAI = { base: 85, tile: 170, side: 512, longest: 2048, shortest: 768 };
const ANTHROPIC = { pixels: 750, longest: 1568, most: 1600 };
const GEMINI = { tile: 258, small: 384, side: 768, longest: 3072 };

/** Estimate the tokens of an image, given in Base64; an unknown family is counted as OpenAI. */
export function estimateImage(base64: string, family = ""): number {
  const size = imageSize(Buffer.from(base64.slice(0, READ_CHARACTERS), "base64")) ?? DEFAULT_SIZE;
  if (/anthropic|claude/i.test(family)) {
    return anthropic(size);
  }
  return /gemini|google/i.test(family) ? gemini(size) : openai(size);
}

function openai(size: Size): number {
  const scaled = within(size, Math.max(...size), OPENAI.longest);
  return (
    OPENAI.base +
    OPENAI.tile * tiles(within(scaled, Math.min(...scaled), OPENAI.shortest), OPENAI.side)
  );
}

function anthropic(size: Size): number {
  const [width, height] = within(size, Math.max(...size), ANTHROPIC.longest);
  return Math.min(Math.ceil((width * height) / ANTHROPIC.pixels), ANTHROPIC.most);
}

function gemini(size: Size): number {
  const longest = Math.max(...size);
  return longest <= GEMINI.small
    ? GEMINI.tile
    : GEMINI.tile * tiles(within(size, longest, GEMINI.longest), GEMINI.side);
}

/** Return the size that one of the sides is scaled to, if that is too long. */
function within([width, height]: Size, side: number, most: number): Size {
  const scaled = (one: number) => Math.max(1, Math.floor((one * most) / side));
  return side <= most ? [width, height] : [scaled(width), scaled(height)];
}

function tiles([width, height]: Size, side: number): number {
  return Math.ceil(width / side) * Math.ceil(height / side);
}

function imageSize(head: Buffer): Size | undefined {
  const size = sizeIn(head);
  return size?.every((side) => side >= 1 && side <= LONGEST_SIDE) ? size : undefined;
}

function sizeIn(head: Buffer): Size | undefined {
  const begin = head.toString("latin1", 0, 16);
  if (begin.startsWith("\x89PNG\r\n\x1a\n") && begin.endsWith("IHDR")) {
    return [big(head, 16, 4), big(head, 20, 4)];
  }
  if (begin.startsWith("GIF87a") || begin.startsWith("GIF89a")) {
    return [little(head, 6, 2), little(head, 8, 2)];
  }
  if (begin.startsWith("RIFF") && begin.startsWith("WEBP", 8)) {
    return webp(head, begin.slice(12));
  }
  return begin.startsWith("\xff\xd8") ? jpeg(head) : undefined;
}

/** Return a number; 0 if it is cut off. */
function little(head: Buffer, at: number, size: number): number {
  return at + size <= head.length ? head.readUIntLE(at, size) : 0;
}

function big(head: Buffer, at: number, size: number): number {
  return at + size <= head.length ? head.readUIntBE(at, size) : 0;
}

function webp(head: Buffer, format: string): Size | undefined {
  if (format === "VP8 ") {
    return [little(head, 26, 2) & 0x3fff, little(head, 28, 2) & 0x3fff];
  }
  const bits = little(head, 21, 4);
  if (format === "VP8L" && bits !== 0) {
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  return format === "VP8X" && head.length >= 30
    ? [little(head, 24, 3) + 1, little(head, 27, 3) + 1]
    : undefined;
}

function jpeg(head: Buffer): Size | undefined {
  let at = 2;
  while (at + 4 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1] as number;
    if (marker === 0xff) {
      at += 1; // markers may begin with several of these
    } else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return [big(head, at + 7, 2), big(head, at + 5, 2)];
    } else {
      at += 2 + Math.max(2, big(head, at + 2, 2));
    }
  }
  return undefined;
}

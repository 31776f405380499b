// Estimates the tokens of a text. This is `bridge/tokens/text.py` once more, to the token: the
// same pieces, the same prices, whole numbers only. Shared vectors hold the two together.

import { BLANKS, CAPITALS, LENGTHS, LETTERS, NUMBERS, PAIRED, WEIGHTS } from "./table.ts";
import { WholePieces } from "./whole.ts";

/** The parts into which a token is divided for adding. */
const UNIT = 64;
/** The characters of the longest token of o200k_base, a run of blanks. */
const LONGEST_TOKEN = 128;
/** A longer word is several ones without blanks between, a key, or a run of one letter. */
const LONG_WORD = 20;
/** So many characters of a long word are priced at a time. */
const STEP = 10;
/** So many times the same letter of ASCII are a token; of the others, each is one. */
const RUN = 4;
/** The price of what is no single token. */
const LEAST = 2 * UNIT;
const START = 1;
const NEXT = 2;
const END = 3;
/** Characters are priced alone and in twos, or in threes, by blocks of so many bits. */
const BLOCK = 7;

/** What the prices are computed with: unpacked by the first question. */
class Prices {
  readonly piece = new RegExp(pattern(), "gu");
  readonly weights = new Int8Array(Buffer.from(WEIGHTS, "base64"));
  readonly lengths = Int32Array.from(LENGTHS.trim().split(/\s+/), Number);
  readonly isPaired = pairedBlocks();
  readonly whole = new WholePieces();
}

let prices: Prices | undefined;

/** Estimate the tokens of a text. */
export function estimateText(text: string): number {
  prices ??= new Prices();
  const { piece } = prices;
  let units = 0;
  let start = 0;
  piece.lastIndex = 0;
  while (piece.test(text)) {
    const end = piece.lastIndex;
    units += price(prices, text, start, end);
    start = end;
  }
  return Math.floor((units + UNIT / 2) / UNIT);
}

function price(prices: Prices, text: string, start: number, end: number): number {
  if (end - start === 1 && text.charCodeAt(start) < 0x80) {
    return UNIT; // as the filter would say
  }
  if (end - start <= LONGEST_TOKEN && prices.whole.has(text, start, end)) {
    return UNIT;
  }
  return Math.max(priceOfSeveral(prices, text, start, end), LEAST);
}

/** Return the price of a piece that is no token. */
function priceOfSeveral(prices: Prices, text: string, start: number, end: number): number {
  if (end - start <= LONG_WORD || !isWord(text, start, end)) {
    return priceAtOnce(prices, text, start, end);
  }
  let units = 0;
  for (let from = start; from < end; from += STEP) {
    const to = Math.min(from + STEP, end);
    units += isRun(text, from, to)
      ? Math.floor((UNIT * (to - from)) / (text.charCodeAt(from) < 0x80 ? RUN : 1))
      : priceAtOnce(prices, text, from, to);
  }
  return units;
}

/** Whether a piece ends with a letter, in a script that sets blanks between words. */
function isWord(text: string, start: number, end: number): boolean {
  const last = text.charCodeAt(end - 1);
  const small = last | 0x20;
  if (last < 0xaa && !(small >= 0x61 && small <= 0x7a)) {
    return false;
  }
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) >= 0x800) {
      return false;
    }
  }
  return true;
}

function isRun(text: string, start: number, end: number): boolean {
  const head = text.charCodeAt(start);
  for (let at = start + 1; at < end; at++) {
    if (text.charCodeAt(at) !== head) {
      return false;
    }
  }
  return true;
}

function priceAtOnce(prices: Prices, text: string, start: number, end: number): number {
  const { weights, lengths, isPaired } = prices;
  let first = START;
  let second = NEXT;
  let size = 0;
  let bits = 0;
  let units = 0;
  for (let at = start; at < end; at++) {
    let code = text.charCodeAt(at);
    if (code >= 0xd800 && code <= 0xdbff && at + 1 < end) {
      const low = text.charCodeAt(at + 1);
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at++;
      }
    }
    if (isPaired[code >> BLOCK]) {
      units += weights[slot(0, second, code)] as number;
      units += weights[slot(0, 0, code)] as number;
    } else {
      units += weights[slot(first, second, code)] as number;
    }
    first = second;
    second = code;
    bits |= code;
    size++;
  }
  units += weights[slot(first, second, END)] as number;
  units += lengths[Math.min(size, lengths.length - 1)] as number;
  const least = UNIT * Math.ceil(size / LONGEST_TOKEN);
  const most = UNIT * size * (bits < 0x80 ? 1 : 4); // as many as it can have bytes
  return Math.min(Math.max(units, least), most);
}

function slot(first: number, second: number, third: number): number {
  return ((first * 7919 + second * 6101 + third * 4447) >> 3) & 0xffff;
}

function pairedBlocks(): Uint8Array {
  const blocks = new Uint8Array(0x110000 >> BLOCK);
  for (const range of PAIRED.trim().split(/\s+/)) {
    const [first, last] = range.split("-").map((code) => Number.parseInt(code, 16) >> BLOCK);
    blocks.fill(1, first, (last as number) + 1);
  }
  return blocks;
}

function pattern(): string {
  const [C, L, N, B] = [CAPITALS, LETTERS, NUMBERS, BLANKS].map(insideBrackets);
  return [
    `[^\\r\\n${C}${L}${N}]?(?:[${C}]*[${L}]+|[${C}]+)` +
      "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|)",
    `[${N}]{1,3}`,
    ` ?[^${C}${L}${N}${B}]+[\\r\\n/]*`,
    `[${B}]*[\\r\\n]+`,
    `[${B}]+(?![^${B}])`,
    `[${B}]+`,
  ].join("|");
}

function insideBrackets(ranges: string): string {
  const written = (one: string) => one.replace(/[0-9A-F]+/g, (code) => `\\u{${code}}`);
  return ranges.trim().split(/\s+/).map(written).join("");
}

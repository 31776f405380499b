// Estimates the tokens of a text. This is `bridge/tokens/text.py` once more, to the token: the
// same pieces, the same prices, whole numbers only. Shared vectors hold the two together.

import { BLANKS, CAPITALS, LENGTHS, LETTERS, NUMBERS, WEIGHTS } from "./table.ts";

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
const START = 1;
const NEXT = 2;
const END = 3;
/** Kana and Chinese characters: so many that three together are seldom seen again, but two are. */
const HAN = 0x2e80;
const AFTER_HAN = 0xa000;
/** The surcharge for such a character in a text that the table wasn't fitted to. */
const UNFITTED_HAN = 2;

const piece = new RegExp(pattern(), "gu");
const weights = new Int8Array(Buffer.from(WEIGHTS, "base64"));
const lengths = Int32Array.from(LENGTHS.trim().split(/\s+/), Number);
const longest = lengths.length - 1;

/** Estimate the tokens of a text. */
export function estimateText(text: string): number {
  let units = 0;
  let start = 0;
  piece.lastIndex = 0;
  while (piece.test(text)) {
    units += price(text, start, piece.lastIndex);
    start = piece.lastIndex;
  }
  return Math.floor((units + UNIT / 2) / UNIT);
}

function price(text: string, start: number, end: number): number {
  if (end - start <= LONG_WORD || !isWord(text, start, end)) {
    return priceAtOnce(text, start, end);
  }
  let units = 0;
  for (let from = start; from < end; from += STEP) {
    const to = Math.min(from + STEP, end);
    units += isRun(text, from, to)
      ? Math.floor((UNIT * (to - from)) / (text.charCodeAt(from) < 0x80 ? RUN : 1))
      : priceAtOnce(text, from, to);
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

function priceAtOnce(text: string, start: number, end: number): number {
  const head = text.charCodeAt(start);
  if ((head >= 0x30 && head <= 0x39) || (end - start === 1 && head < 0x80)) {
    return UNIT; // a number of up to three digits is a token, and so is a single character
  }
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
    if (code >= HAN && code < AFTER_HAN) {
      units += UNFITTED_HAN + (weights[slot(0, second, code)] as number);
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
  units += lengths[Math.min(size, longest)] as number;
  const least = UNIT * (1 + Math.floor(size / LONGEST_TOKEN));
  const most = UNIT * size * (bits < 0x80 ? 1 : 4); // as many as it can have bytes
  return Math.min(Math.max(units, least), most);
}

function slot(first: number, second: number, third: number): number {
  return ((first * 7919 + second * 6101 + third * 4447) >> 3) & 0xffff;
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

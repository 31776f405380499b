// Estimates the tokens of a text. This is `bridge/tokens/text.py` once more, to the token: the
// same pieces, the same prices, whole numbers only. Shared vectors hold the two together.

import { Cutter, codeAt } from "./pieces.ts";
import { PAIRED, SPELT, WEIGHTS } from "./table.ts";
import { WholePieces } from "./whole.ts";

/** The parts into which a token is divided for adding. */
const UNIT = 64;
/** The characters of the longest token of o200k_base, a run of blanks. */
const LONGEST_TOKEN = 128;
/** The characters of the longest token with letters, the alphabet (`bridge/tokens/whole.py`). */
const LONGEST_WORD = 26;
/** The characters of the longest token that is looked for in a piece; longer ones are seldom. */
const LONGEST_PART = 8;
/** But a run of one character has its tokens of these lengths. */
const LONG_RUNS = [64, 32, 16];
/** Of a longer piece than these together only so much is priced, and the rest is taken to be alike. */
const SAMPLES = 8;
const SAMPLE = 128;
/** Letters of no word have many short parts, and the tokenizer finds more (`bridge/tokens/text.py`). */
const FEW_PARTS = 4;
const LONG_PART = 3;
const MISSED = 13;
/** The price of what is no single token. */
const LEAST = 2 * UNIT;
/** Stands for the character before the first one of a piece. */
const BEGIN = 2;
/** Characters are priced in twos, or spelt, or taken apart into tokens, by blocks of so many bits. */
const BLOCK = 7;
const APART = 0;
const PAIR = 1;

/** What the prices are computed with: unpacked by the first question. */
class Prices {
  readonly cutter = new Cutter();
  readonly weights = new Int8Array(Buffer.from(WEIGHTS, "base64"));
  readonly ways = waysOfBlocks();
  readonly whole = new WholePieces();
}

let prices: Prices | undefined;

/** Estimate the tokens of a text. */
export function estimateText(text: string): number {
  prices ??= new Prices();
  const { cutter } = prices;
  let units = 0;
  let start = 0;
  while (start < text.length) {
    const end = cutter.end(text, start);
    units += price(prices, text, start, end);
    start = end;
  }
  return Math.floor((units + UNIT / 2) / UNIT);
}

function price(prices: Prices, text: string, start: number, end: number): number {
  if (end - start === 1 && text.charCodeAt(start) < 0x80) {
    return UNIT; // as the filter would say
  }
  if (end - start <= LONGEST_TOKEN) {
    if (isWhole(prices, text, start, end)) {
      return UNIT;
    }
    if (isMark(text.charCodeAt(start)) && isWhole(prices, text, start + 1, end)) {
      return LEAST; // a word with a mark before it is seldom a token, and the word alone often is
    }
  }
  return Math.max(
    LEAST,
    end - start <= SAMPLES * SAMPLE
      ? several(prices, text, start, end)
      : sampled(prices, text, start, end),
  );
}

/** Whether a piece is one token; wrong for one in 256 short pieces that are several. */
function isWhole({ whole }: Prices, text: string, start: number, end: number): boolean {
  const mayBe = end - start <= LONGEST_WORD || isNoLetter(text.charCodeAt(start + 1));
  return mayBe && whole.has(text, start, end);
}

/** Whether a character is a mark or a blank of ASCII, or one that isn't printed. */
function isNoLetter(code: number): boolean {
  return code < 0x80 && (code <= 0x20 || code === 0x7f || isMark(code));
}

/** Whether a character is a mark of ASCII. */
function isMark(code: number): boolean {
  const isWord = (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
  return code > 0x20 && code < 0x7f && !isWord;
}

/** Return about the price of a long piece. */
function sampled(prices: Prices, text: string, start: number, end: number): number {
  const size = end - start;
  let units = 0;
  for (let number = 0; number < SAMPLES; number++) {
    const from = start + Math.floor((number * (size - SAMPLE)) / (SAMPLES - 1));
    units += several(prices, text, from, from + SAMPLE);
  }
  return Math.floor((units * size) / (SAMPLES * SAMPLE));
}

/** Return the price of a piece, as of several tokens: a token for each part, and all weights. */
function several(prices: Prices, text: string, start: number, end: number): number {
  const { weights, ways } = prices;
  let units = 0;
  let last = BEGIN;
  let at = start;
  while (at < end) {
    const code = codeAt(text, at, end);
    const way = ways[code >> BLOCK] as number;
    if (way === APART) {
      const from = at;
      do {
        at++;
      } while (at < end && ways[codeAt(text, at, end) >> BLOCK] === APART);
      units += takenApart(prices, text, from, at);
      last = text.charCodeAt(at - 1);
    } else {
      units +=
        way === PAIR
          ? (weights[slot(0, code)] as number) + (weights[slot(last, code)] as number)
          : UNIT * way;
      last = code;
      at += code < 0x10000 ? 1 : 2;
    }
  }
  return units;
}

/** Take characters apart, from the left, each time by the longest token that is found. */
function takenApart(prices: Prices, text: string, start: number, end: number): number {
  const { weights, whole } = prices;
  let units = 0;
  let count = 0;
  let from = start;
  while (from < end) {
    count++;
    const most = Math.min(from + LONGEST_PART, end);
    const isRun = most === from + LONGEST_PART && runs(text, from, most);
    let to = (isRun && endOfRun(prices, text, from, end)) || whole.longest(text, from, most);
    if (from === start && to === from + 2 && isAlone(text, from, end)) {
      to = from + 1;
    }
    units += UNIT;
    const code = text.charCodeAt(from);
    if (to === from + 1 && code >= 0x80 && !whole.has(text, from, to)) {
      units += weights[slot(0, code)] as number;
    }
    from = to;
  }
  return count > FEW_PARTS && isWord(text, start, end) ? units + missed(end - start, count) : units;
}

/** Whether a mark stands before capitals, and goes with none of them but where it goes with several. */
function isAlone(text: string, start: number, end: number): boolean {
  return (
    start + 2 < end &&
    isMark(text.charCodeAt(start)) &&
    isCapital(text, start + 1) &&
    isCapital(text, start + 2)
  );
}

function isCapital(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x41 && code <= 0x5a;
}

/** Return the price of the tokens that longer parts hide in letters of no word. */
function missed(size: number, count: number): number {
  return MISSED * Math.max(0, Math.min(count - FEW_PARTS, LONG_PART * count - size, size - count));
}

/** Whether a run of several characters is one of letters of ASCII, maybe with a mark before them. */
function isWord(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) >= 0x80) {
      return false;
    }
  }
  const code = text.charCodeAt(start + 1) | 0x20;
  return code >= 0x61 && code <= 0x7a;
}

/** Return where the longest token of one character ends; 0 if there is no long one. */
function endOfRun(prices: Prices, text: string, start: number, end: number): number {
  for (const length of LONG_RUNS) {
    const to = start + length;
    if (to <= end && runs(text, start, to) && isWhole(prices, text, start, to)) {
      return to;
    }
  }
  return 0;
}

/** Whether all characters are the same. */
function runs(text: string, start: number, end: number): boolean {
  const head = text.charCodeAt(start);
  for (let at = start + 1; at < end; at++) {
    if (text.charCodeAt(at) !== head) {
      return false;
    }
  }
  return true;
}

function slot(first: number, second: number): number {
  return ((first * 6101 + second * 4447) >> 3) & 0xffff;
}

/** Return of each block whether its characters are paired or taken apart; of spelt ones their bytes. */
function waysOfBlocks(): Uint8Array {
  const ways = new Uint8Array(0x110000 >> BLOCK);
  for (const [ranges, isSpelt] of [
    [PAIRED, false],
    [SPELT, true],
  ] as const) {
    for (const range of ranges.trim().split(/\s+/)) {
      const [first, last] = range.split("-").map((code) => Number.parseInt(code, 16)) as [
        number,
        number,
      ];
      const bytes = Buffer.byteLength(String.fromCodePoint(first));
      ways.fill(isSpelt ? bytes : PAIR, first >> BLOCK, (last >> BLOCK) + 1);
    }
  }
  return ways;
}

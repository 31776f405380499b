// Cuts a text where a byte-pair tokenizer cuts before it merges: the expression of
// `bridge/tokens/pieces.py` as loops. V8 runs that expression well over texts of short pieces. But of a
// piece with a million characters it remembers each one, which blocked the extension host for longer than
// anything else here.

import { BLANKS, CAPITALS, LETTERS, NUMBERS } from "./table.ts";

const OTHER = 0;
const CAPITAL = 1;
const LETTER = 2;
const NUMBER = 3;
const BLANK = 4;
/** A blank that ends a line. */
const NEWLINE = 5;
/** The first half of a character; or half a character, which is one of its own. */
const HALF = 6;

/** A piece is cut after so many characters, as if the text ended there. */
const LONGEST_PIECE = 512_000;
/** So many characters after a piece can decide where it ends. */
const AHEAD = 4;
/** A number's digits come in pieces of so many. */
const DIGITS = 3;
/** What stays with the word before it; either letter may be a capital. */
const ENDINGS = /'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|/y;

export class Cutter {
  private readonly kinds = kinds();

  /** Return where the piece ends that begins at the start, which is before the end of the text. */
  end(text: string, start: number): number {
    const limit = Math.min(text.length, start + 2 * LONGEST_PIECE);
    const end = this.endBefore(limit, text, start);
    return end - start <= LONGEST_PIECE - AHEAD
      ? end
      : this.endBefore(after(LONGEST_PIECE, text, start), text, start);
  }

  /** Return where a piece ends if the text ends at a limit. */
  private endBefore(limit: number, text: string, start: number): number {
    const kind = this.kindAt(text, start, limit);
    if (kind === CAPITAL || kind === LETTER) {
      return this.endOfWord(text, start, limit);
    }
    if (kind === NUMBER) {
      return this.endOfNumber(text, start, limit);
    }
    const next = start + width(text, start, limit);
    if (kind !== NEWLINE && next < limit) {
      const following = this.kindAt(text, next, limit);
      if (following === CAPITAL || following === LETTER) {
        return this.endOfWord(text, next, limit);
      }
      if (following === OTHER && text.charCodeAt(start) === 0x20) {
        return this.endOfMarks(text, next, limit);
      }
    }
    return kind === OTHER
      ? this.endOfMarks(text, next, limit)
      : this.endOfBlanks(text, start, limit);
  }

  /** A word is capitals and then other letters, or only one of the two, and an English ending. */
  private endOfWord(text: string, start: number, limit: number): number {
    const end = this.endOf(LETTER, text, this.endOf(CAPITAL, text, start, limit), limit);
    if (end === limit || text.charCodeAt(end) !== 0x27) {
      return end;
    }
    ENDINGS.lastIndex = end;
    ENDINGS.test(text);
    return ENDINGS.lastIndex <= limit ? ENDINGS.lastIndex : end;
  }

  private endOfNumber(text: string, start: number, limit: number): number {
    let at = start;
    for (let digit = 0; digit < DIGITS && at < limit; digit++) {
      if (this.kindAt(text, at, limit) !== NUMBER) {
        break;
      }
      at += width(text, at, limit);
    }
    return at;
  }

  /** Marks take the ends of lines after them along, and the slashes between these. */
  private endOfMarks(text: string, start: number, limit: number): number {
    let at = this.endOf(OTHER, text, start, limit);
    while (at < limit && isNewlineOrSlash(text.charCodeAt(at))) {
      at++;
    }
    return at;
  }

  /** Blanks go up to the last end of a line. If there is none, the last blank goes with what follows. */
  private endOfBlanks(text: string, start: number, limit: number): number {
    let at = start;
    let lines = start;
    for (; at < limit; at++) {
      const kind = this.kinds[text.charCodeAt(at)];
      if (kind === NEWLINE) {
        lines = at + 1;
      } else if (kind !== BLANK) {
        break;
      }
    }
    if (lines > start) {
      return lines;
    }
    return at === limit ? at : Math.max(at - 1, start + 1);
  }

  /** Return where a run of one kind ends. In a new process this isn't compiled, so it calls little. */
  private endOf(wanted: number, text: string, start: number, limit: number): number {
    const { kinds } = this;
    let at = start;
    while (at < limit) {
      const kind = kinds[text.charCodeAt(at)];
      if (kind === wanted) {
        at++;
      } else if (kind === HALF) {
        const code = codeAt(text, at, limit);
        if ((code < 0x10000 ? OTHER : kinds[code]) !== wanted) {
          break;
        }
        at += code < 0x10000 ? 1 : 2;
      } else {
        break;
      }
    }
    return at;
  }

  /** Return the kind of a character. */
  private kindAt(text: string, at: number, limit: number): number {
    const kind = this.kinds[text.charCodeAt(at)] as number;
    if (kind !== HALF) {
      return kind;
    }
    const code = codeAt(text, at, limit);
    return code < 0x10000 ? OTHER : (this.kinds[code] as number);
  }
}

/** Return where so many characters end, or the text. */
function after(characters: number, text: string, start: number): number {
  let at = start;
  for (let count = 0; count < characters && at < text.length; count++) {
    at += width(text, at, text.length);
  }
  return at;
}

/** Return the code of a character that ends before the end; half a character is one of its own. */
export function codeAt(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff || at + 1 >= end) {
    return code;
  }
  const low = text.charCodeAt(at + 1);
  return low < 0xdc00 || low > 0xdfff ? code : 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

function width(text: string, at: number, end: number): number {
  return codeAt(text, at, end) < 0x10000 ? 1 : 2;
}

function isNewlineOrSlash(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x2f;
}

/** Return the kind of each character of Unicode. */
function kinds(): Uint8Array {
  const found = new Uint8Array(0x110000);
  [CAPITALS, LETTERS, NUMBERS, BLANKS].forEach((ranges, index) => {
    for (const range of ranges.trim().split(/\s+/)) {
      const [first, last = first] = range.split("-").map((code) => Number.parseInt(code, 16));
      found.fill(CAPITAL + index, first, (last as number) + 1);
    }
  });
  found.fill(HALF, 0xd800, 0xdc00);
  found[0x0a] = NEWLINE;
  found[0x0d] = NEWLINE;
  return found;
}

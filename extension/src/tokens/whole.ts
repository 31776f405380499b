// Tells which pieces are one token each in o200k_base: `bridge/tokens/whole.py` once more, where the
// filter is explained.

import { wholePieces } from "./whole_pieces.ts";

const SEGMENT = 1 << 12;
const MIXER = 0x9e3779b1;

/** Of each byte its CRC-32; and that of the byte with a zero after it. */
const [one, two] = crcTables();

/** The filter; its bytes are unpacked here. */
export class WholePieces {
  private readonly filter = wholePieces();
  private readonly starts = this.filter.length / SEGMENT - 2;
  /** The hashes of a piece's beginnings. */
  private readonly hashes = new Int32Array(256);

  /** Tell whether a piece of a text is one token; wrong for one in 256 pieces that are several. */
  has(text: string, start: number, end: number): boolean {
    let crc = -1;
    for (let at = start; at < end; at++) {
      crc = more(crc, text.charCodeAt(at));
    }
    return this.hasHash(~crc);
  }

  /** Return where the longest token ends that begins at the start: after one character or later. */
  longest(text: string, start: number, end: number): number {
    const { hashes } = this;
    let crc = -1;
    for (let at = start; at < end; at++) {
      crc = more(crc, text.charCodeAt(at));
      hashes[at - start] = ~crc;
    }
    let size = end - start;
    while (size > 1 && !this.hasHash(hashes[size - 1] as number)) {
      size--;
    }
    return start + size;
  }

  private hasHash(crc: number): boolean {
    const { filter } = this;
    const mixed = Math.imul(crc, MIXER);
    const first = (((mixed >>> 16) * this.starts) >>> 16) * SEGMENT;
    const found =
      (filter[first + (crc & 0xfff)] as number) ^
      (filter[first + SEGMENT + ((crc >>> 12) & 0xfff)] as number) ^
      (filter[first + 2 * SEGMENT + (crc >>> 20)] as number);
    return found === ((mixed >>> 8) & 0xff);
  }
}

/** Return the hash with one more character: two bytes at once. */
function more(crc: number, code: number): number {
  const mixed = crc ^ code;
  return (two[mixed & 0xff] as number) ^ (one[(mixed >>> 8) & 0xff] as number) ^ (crc >>> 16);
}

function crcTables(): [Int32Array, Int32Array] {
  const ofByte = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    return crc;
  });
  const ofTwo = ofByte.map((crc) => (ofByte[crc & 0xff] as number) ^ (crc >>> 8));
  return [ofByte, ofTwo];
}

// Tells which pieces are one token each in o200k_base: `bridge/tokens/whole.py` once more, where the
// filter is explained.

import { wholePieces } from "./whole_pieces.ts";

const SEGMENT = 1 << 12;
const MIXER = 0x9e3779b1;

/** Of each byte its CRC-32; and that of the byte with a zero after it. */
const [one, two] = crcTables();

/** Asked for whole pieces; the filter is unpacked by the first question. */
export class WholePieces {
  private readonly filter = wholePieces();
  private readonly starts = this.filter.length / SEGMENT - 2;

  /** Tell whether a piece of a text is one token; wrong for one in 256 pieces that are several. */
  has(text: string, start: number, end: number): boolean {
    let crc = -1;
    for (let at = start; at < end; at++) {
      const mixed = crc ^ text.charCodeAt(at);
      crc = (two[mixed & 0xff] as number) ^ (one[(mixed >>> 8) & 0xff] as number) ^ (crc >>> 16);
    }
    crc = ~crc;
    const mixed = Math.imul(crc, MIXER);
    const first = ((((mixed >>> 16) * this.starts) >>> 16) << 12) + (crc & 0xfff);
    const second = first - (crc & 0xfff) + SEGMENT + ((crc >>> 12) & 0xfff);
    const third = first - (crc & 0xfff) + 2 * SEGMENT + (crc >>> 20);
    const { filter } = this;
    const found =
      (filter[first] as number) ^ (filter[second] as number) ^ (filter[third] as number);
    return found === ((mixed >>> 8) & 0xff);
  }
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

// Lines out of a stream's chunks. A line may come in many chunks, and a chunk hold many lines. A line
// that is too long is skipped, and costs no memory; those after it are as they were.

import { KEPT_OF_LONG_LINE_BYTES } from "../limits.ts";

const LINE_END = 0x0a;

export class Lines {
  private held: Buffer[] = [];
  private size = 0;

  /** `limit` is that of a line, in bytes; `skipped` is given the beginning of each that is longer. */
  constructor(
    private readonly limit: number,
    private readonly skipped: (beginning: string) => void,
  ) {}

  /** Take bytes in; return the lines that they complete, without their ends. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_END, start);
      if (end < 0) {
        break;
      }
      this.hold(chunk.subarray(start, end));
      lines.push(...this.taken());
      start = end + 1;
    }
    this.hold(chunk.subarray(start));
    return lines;
  }

  /** Return the rest after the last end of a line. */
  rest(): string {
    return this.taken()[0] ?? "";
  }

  private hold(piece: Buffer): void {
    if (piece.length > 0) {
      this.size += piece.length;
      this.held.push(piece);
    }
    if (this.size > this.limit) {
      this.held = [this.beginning()];
    }
  }

  /** Copied, so that the rest isn't kept. */
  private beginning(): Buffer {
    const pieces: Buffer[] = [];
    let room = KEPT_OF_LONG_LINE_BYTES;
    for (const piece of this.held) {
      pieces.push(piece.subarray(0, room));
      room -= piece.length;
      if (room <= 0) {
        break;
      }
    }
    return Buffer.concat(pieces);
  }

  /** Decoded line by line: a character may be split between chunks, never between lines. */
  private taken(): string[] {
    const { held, size } = this;
    this.held = [];
    this.size = 0;
    const text = (held.length === 1 ? held[0] : Buffer.concat(held))?.toString("utf8") ?? "";
    if (size > this.limit) {
      this.skipped(text);
      return [];
    }
    return [text];
  }
}

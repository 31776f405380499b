// Lines out of a stream's chunks. A line may come in many chunks, and a chunk hold many lines.

const LINE_END = 0x0a;

export class Lines {
  private readonly held: Buffer[] = [];

  /** Take bytes in; return the lines that they complete, without their ends. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_END, start);
      if (end < 0) {
        break;
      }
      const rest = chunk.subarray(start, end);
      // Decoded line by line: a character may be split between chunks, never between lines.
      lines.push(this.held.length ? this.join(rest) : rest.toString("utf8"));
      start = end + 1;
    }
    if (start < chunk.length) {
      this.held.push(chunk.subarray(start));
    }
    return lines;
  }

  /** Return what came after the last end of a line. */
  rest(): string {
    return this.join(Buffer.alloc(0));
  }

  private join(last: Buffer): string {
    const line = Buffer.concat([...this.held, last]).toString("utf8");
    this.held.length = 0;
    return line;
  }
}

// Long lines of code, for an editor that is set not to break them: their ends would be out of sight.

/** The width of the narrowest chat, in letters. */
export const NARROW = 24;
/** Stands before text that continues the line above; the bridge writes it nowhere else. */
export const GOES_ON = "↪ ";

/** Return Markdown of the bridge's, in which no line of a block of code is too long. */
export function foldCode(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split("\n")
    .flatMap((line) => {
      const ticks = /^`{3,}/.exec(line)?.[0];
      if (fence === undefined) {
        fence = ticks !== undefined && !line.includes("`", ticks.length) ? ticks : undefined;
        return [line];
      }
      if (line === fence) {
        fence = undefined;
        return [line];
      }
      return fold(line);
    })
    .join("\n");
}

function fold(line: string): string[] {
  const lines: string[] = [];
  let piece = "";
  let room = NARROW;
  for (const letter of line) {
    const cells = isWide(letter) ? 2 : 1;
    if (cells > room) {
      lines.push(piece);
      piece = GOES_ON;
      room = NARROW - GOES_ON.length;
    }
    piece += letter;
    room -= cells;
  }
  return [...lines, piece];
}

/** Whether a letter may take the place of two; a tab is taken for one that takes more. */
function isWide(letter: string): boolean {
  return letter >= "\u1100" || letter === "\t";
}

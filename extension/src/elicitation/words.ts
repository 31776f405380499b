// An agent's texts as the editor's boxes may show them.
//
// The boxes and messages make links of `[text](command:...)`, and the boxes icons of `$(name)`. A link
// could run any command of the editor, so an agent's text never becomes one.

import { MAX_SHOWN_CHARACTERS } from "../limits.ts";
import { withoutTurning } from "../unseen.ts";

const NO_SPACE = "\u200b";

/** Return a text on one line, without links, and not too long. */
export function plainWords(text: string): string {
  const line = withoutTurning(text, () => " ")
    .replace(/ {2,}/g, " ")
    .trim();
  const cut =
    line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS - 1)}…` : line;
  return cut.replaceAll("](", `]${NO_SPACE}(`);
}

/** Return a text for a place where the editor makes icons of some words: all but titles. */
export function wordsWithoutIcons(text: string): string {
  return plainWords(text).replaceAll("$(", "\\$(");
}

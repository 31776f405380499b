// Estimates of texts, remembered: for each request an editor counts thousands of short texts, and nearly
// all of them as for the request before.

import { estimateText } from "./text.ts";

/** Longer texts are few, and would leave the short ones no room. */
const LONGEST = 1_000;
/** Of all texts together. Beyond that all is forgotten, and the next request costs as much as the first. */
const MOST_CHARACTERS = 1_000_000;

export class RememberedEstimates {
  private readonly known = new Map<string, number>();
  private characters = 0;

  constructor(private readonly estimate: (text: string) => number = estimateText) {}

  /** Return the estimate for a text. */
  of(text: string): number {
    if (text.length > LONGEST) {
      return this.estimate(text);
    }
    const known = this.known.get(text);
    if (known !== undefined) {
      return known;
    }
    const tokens = this.estimate(text);
    if (this.characters + text.length > MOST_CHARACTERS) {
      this.known.clear();
      this.characters = 0;
    }
    this.known.set(text, tokens);
    this.characters += text.length;
    return tokens;
  }
}

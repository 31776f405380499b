// Interim, until `tokens.ts` holds the estimator: four characters a token, as a place to import from.

/** Estimate the tokens of a text. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

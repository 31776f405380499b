// Patterns of agents. A pattern can take years to match, and the editor's extensions would wait for it.

import { runInNewContext } from "node:vm";
import { PATTERN_MS } from "../limits.ts";

/** Whether a value has a match; undefined if that can't be found out in time. */
export function matches(
  pattern: string,
  value: string,
  milliseconds = PATTERN_MS,
): boolean | undefined {
  try {
    const found = runInNewContext(
      "pattern.test(value)",
      { pattern: compiled(pattern), value },
      { timeout: milliseconds },
    );
    return found === true;
  } catch {
    return undefined;
  }
}

/** Return a pattern of JSON schema as one of JavaScript; undefined if it isn't one. */
export function compiled(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // many a pattern is one only without the flag
    }
  }
  return undefined;
}

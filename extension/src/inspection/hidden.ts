// Takes secrets out of a text that may leave the machine. The program has done so with its own lines; this
// does it with the extension's, too.

import type { Json } from "../program/wire.ts";

const HIDDEN = "[redacted]";
/** As in the program: a shorter value is a word like others. */
const SHORTEST = 6;
const ADDRESS_USER = /:\/\/[^\s/@]{1,300}@/g;
const KEYS = /\b(?:Bearer\s{1,8}\S+|(?:sk|hf|gsk|xai|key)[-_][A-Za-z0-9_-]{12,})/g;
/** Under these keys of a definition, every text is secret. */
const SECRET = /api_?key$|token$|secret|passw/i;
/** Under these, every text but paths and addresses, which are needed to understand a problem. */
const VARIABLES = /^(?:env|headers)$/;
const PATH = /^(?:[/~]|[A-Za-z]:[\\/]|https?:\/\/[^?@]*$)/;

/** Return the text without these values, nor what looks like a secret. */
export function hidden(text: string, secrets: Iterable<string>): string {
  const values = [...new Set(secrets)].filter((value) => value.length >= SHORTEST);
  const longestFirst = values.sort((one, other) => other.length - one.length);
  const known = longestFirst.reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
  return known.replace(ADDRESS_USER, `://${HIDDEN}@`).replace(KEYS, HIDDEN);
}

/** Return the texts of a definition that are secret; or of variables, of which most are. */
export function secretsIn(
  definition: unknown,
  kind: "plain" | "variable" | "secret" = "plain",
): string[] {
  const value = definition as Json | undefined;
  if (typeof value === "string") {
    return kind === "secret" || (kind === "variable" && !PATH.test(value)) ? [value] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((one) => secretsIn(one, kind));
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "name") {
      return [];
    }
    return secretsIn(inner, SECRET.test(key) ? "secret" : VARIABLES.test(key) ? "variable" : kind);
  });
}

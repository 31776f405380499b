// JSON as Python writes it here: keys in the order of their code points, no blanks.

/** Return a JSON value as text that doesn't depend on the order of its keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonicalJson).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value) ?? "null";
  }
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([one], [other]) => byCodePoint(one, other));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`)}}`;
}

function byCodePoint(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)); // UTF-8 keeps their order
}

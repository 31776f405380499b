// Remedies for a failure, as vscodelm sends them (docs/reference/errors.md).

export type Fix =
  | { type: "page"; title: string; url: string }
  | { type: "key"; title: string; variables: string[] }
  | { type: "terminal"; title: string; command: string; args?: string[]; env?: Env; cwd?: string }
  | { type: "login"; title: string; methodId: string }
  | { type: "settings"; title: string };

export type Env = Record<string, string>;

const TYPES = ["page", "key", "terminal", "login", "settings"];

/** Return the fixes of a list that came from the program; those of another kind are left out. */
export function fixesIn(list: unknown): Fix[] {
  return Array.isArray(list)
    ? list.filter((fix) => TYPES.includes(fix?.type) && typeof fix.title === "string")
    : [];
}

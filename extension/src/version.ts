// Which vscodelm this extension can work with. The one of its own environment always fits; one on PATH
// or in the settings may be older, or another program of that name.

import { RpcError } from "./connection.ts";
import { Failure } from "./failures.ts";
import type { InitializeResult } from "./wire.ts";

/** The oldest that has all that this extension asks for. */
export const OLDEST = "0.1.0";
const METHOD_NOT_FOUND = -32601;

/** Throw what a user can act on, if what has answered the handshake is too old. */
export function checkVersion(command: string, answer: Partial<InitializeResult> | null): void {
  const version = answer?.serverInfo?.version;
  if (typeof version !== "string" || isOlder(version, OLDEST)) {
    throw unfit(command, `is ${version ?? "of an unknown version"}`);
  }
}

/** Return why the handshake failed: a program that doesn't know of it is not ours, or a very old one. */
export function whyRefused(command: string, error: unknown): unknown {
  return error instanceof RpcError && error.code === METHOD_NOT_FOUND
    ? unfit(command, "doesn't know the handshake")
    : error;
}

function unfit(command: string, what: string): Failure {
  return new Failure(
    "NotFound",
    `${command} ${what}; this extension needs vscodelm ${OLDEST} or newer. Update it, or set ` +
      '"vscodelm.path" to another, or take it off PATH: then the extension installs its own.',
  );
}

function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [numbers(version), numbers(than)];
  const place = [0, 1, 2].find((at) => ours[at] !== theirs[at]);
  return place !== undefined && (ours[place] ?? 0) < (theirs[place] ?? 0);
}

function numbers(version: string): number[] {
  return [...version.split("."), "0", "0"]
    .slice(0, 3)
    .map((part) => Number.parseInt(part, 10) || 0);
}

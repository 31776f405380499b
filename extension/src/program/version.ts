// Which vscodelm this extension can work with. The one of its own environment always fits; one on PATH
// or in the settings may be older, or another program of that name.

import { Failure } from "../chat/failures.ts";
import { RpcError } from "./connection.ts";
import type { InitializeResult } from "./wire.ts";

/** The oldest that has all that this extension asks for. */
export const OLDEST = "0.1.0";
const METHOD_NOT_FOUND = -32601;

/** Throw a failure with advice, if the program that answered the handshake is too old. */
export function checkVersion(command: string, answer: Partial<InitializeResult> | null): void {
  const version = answer?.serverInfo?.version;
  if (typeof version !== "string" || isOlder(version, OLDEST)) {
    throw unfit(command, `is ${version ?? "of an unknown version"}`);
  }
}

/** Return why the handshake failed: a program without the handshake isn't ours, or is very old. */
export function whyRefused(command: string, error: unknown): unknown {
  return error instanceof RpcError && error.code === METHOD_NOT_FOUND
    ? unfit(command, "doesn't know the handshake")
    : error;
}

function unfit(command: string, what: string): Failure {
  return new Failure(
    "NotFound",
    `${command} ${what}; this extension needs vscodelm ${OLDEST} or newer. Update it, or set ` +
      '"vscodelm.path" to another, or remove it from PATH: then the extension installs its own.',
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

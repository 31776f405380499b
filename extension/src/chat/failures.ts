// Failures as the editor knows them: the code by which extensions tell them apart, and a message that
// a person can act on.

import * as vscode from "vscode";
import { ConnectionClosed, RpcError } from "../program/connection.ts";
import type { FailureData, FailureKind } from "../program/wire.ts";
import { type Fix, fixesIn } from "../setup/fix.ts";

const FACTORIES: Partial<Record<FailureKind, (message: string) => vscode.LanguageModelError>> = {
  NoPermissions: (message) => vscode.LanguageModelError.NoPermissions(message),
  Blocked: (message) => vscode.LanguageModelError.Blocked(message),
  NotFound: (message) => vscode.LanguageModelError.NotFound(message),
};

/** A failure of the extension's own, of a kind that the wire has. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
  ) {
    super(message);
    this.name = "Failure";
  }
}

/** Return the error that shows an extension the kind of failure. */
export function toLanguageModelError(error: unknown): vscode.LanguageModelError {
  const failed =
    FACTORIES[kindOf(error)] ?? ((text: string) => new vscode.LanguageModelError(text));
  return withoutStack(failed(messageOf(error)));
}

/**
 * Return the error for the built-in chat, which shows a person the message and the stack. Editors make
 * language model errors anew on their way, with stacks of their own; only a plain error keeps none.
 */
export function toShownError(error: unknown): Error {
  const message = messageOf(error);
  return withoutStack(new Error(isOdd(error) ? `${message} ${HELP}` : message));
}

/** The chat opens no command from an error, so this names it. */
const HELP = 'If you can\'t explain it, run the command "vscodelm: Report a Problem".';

/** Return whether an error names no fix: the agent or vscodelm failed in a way of its own. */
function isOdd(error: unknown): boolean {
  return (
    !(error instanceof Failure) &&
    fixesOf(error).length === 0 &&
    ["AgentFailed", "Internal"].includes(kindOf(error))
  );
}

function withoutStack<T extends Error>(error: T): T {
  error.stack = "";
  return error;
}

/** Return the words for the user about an error. */
export function messageOf(error: unknown): string {
  if (error instanceof RpcError && dataOf(error) === undefined) {
    return `vscodelm refused the request: ${error.message}`;
  }
  if (error instanceof ConnectionClosed) {
    return `${error.message} Send your message again to restart it. "vscodelm: Show Log" has the details.`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Return the end of an agent's standard error, for the log. */
export function lastWordsOf(error: unknown): string | undefined {
  return error instanceof RpcError ? dataOf(error)?.stderrTail : undefined;
}

/** Return the fixes for an error. */
export function fixesOf(error: unknown): Fix[] {
  return error instanceof RpcError ? fixesIn(dataOf(error)?.fixes) : [];
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof Failure) {
    return error.kind;
  }
  return (error instanceof RpcError && dataOf(error)?.kind) || "AgentFailed";
}

function dataOf(error: RpcError): FailureData | undefined {
  const { data } = error;
  return typeof data === "object" && data !== null && "kind" in data
    ? (data as FailureData)
    : undefined;
}

// Questions of agents that the editor could not ask. It answers them with an error. An error is no
// approval, so the action is denied. The user must learn that no question was shown, and why.

import * as vscode from "vscode";
import { MAX_TOLD_QUESTIONS } from "../limits.ts";
import { isPermissionTool, type Message } from "../program/wire.ts";

/** The editors' answer to a call of a tool that has thrown, or can't be called. */
const FAILED = /^ERROR while calling tool: (.*)/;
/** The editor passes a hook's wish to ask on to the tool, in a way that only extensions of its own may take. */
const HOOK = /CANNOT use API proposal/;

const TOLD =
  "An agent asked for permission, but VS Code could not ask you, so the action was denied. " +
  "See the log for the reason.";
const TOLD_OF_HOOK =
  "An agent asked for permission, but VS Code could not ask you, so the action was denied. " +
  'The reason: a PreToolUse hook answered "ask" for the tool Agent Action. ' +
  "Exclude this tool from the hook: the tool itself always asks.";

/** An agent's question that was answered with an error. */
interface Unasked {
  callId: string;
  reason: string;
}

/** Return the questions of the newest answer that nobody was asked. */
export function unaskedIn(messages: readonly Message[]): Unasked[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const questions = (messages[last]?.content ?? [])
    .filter(({ type, toolName }: Fields) => type === "tool_call" && isPermissionTool(toolName))
    .map(({ toolCallId }: Fields) => toolCallId);
  return messages
    .slice(last + 1)
    .flatMap(({ content }) => content)
    .filter(({ toolCallId }: Fields) => questions.includes(toolCallId))
    .flatMap(({ toolCallId, result }: Fields) => {
      const [, reason] = FAILED.exec(textOf(result)) ?? [];
      return reason === undefined ? [] : [{ callId: String(toolCallId), reason }];
    });
}

/** Tells the user and the log of such questions, each once: editors send their history again and again. */
export class UnaskedQuestions {
  private readonly told = new Set<string>();

  constructor(private readonly log: Pick<vscode.LogOutputChannel, "error">) {}

  look(messages: readonly Message[]): void {
    const news = unaskedIn(messages).filter(({ callId }) => !this.told.has(callId));
    for (const { callId, reason } of news) {
      this.told.add(callId);
      this.log.error(`the editor could not ask the agent's question ${callId}: ${reason}`);
    }
    for (const [oldest] of [...this.told.entries()].slice(0, -MAX_TOLD_QUESTIONS)) {
      this.told.delete(oldest);
    }
    if (news.length > 0) {
      const ofHook = news.some(({ reason }) => HOOK.test(reason));
      void vscode.window.showWarningMessage(ofHook ? TOLD_OF_HOOK : TOLD);
    }
  }
}

/** Fields that parts may have. */
type Fields = Partial<Record<"type" | "toolName" | "toolCallId" | "result", unknown>>;

function textOf(result: unknown): string {
  const parts: unknown[] = Array.isArray(result) ? result : [];
  const values = parts.map((part) => (part as { value?: unknown } | null)?.value);
  return values.filter((value) => typeof value === "string").join("");
}

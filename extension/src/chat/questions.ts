// The questions of agents that the user is yet to answer.
//
// VS Code shows the parameters of a call as JSON below the question, unless the call has none
// (docs/explanation/decisions/0025). So the parameters stay here. The call has none, or a number
// where another question is out: then nothing else would tell the two apart. A call without a
// number means one question until that call's result is back. It never means the next one.

import { MAX_OPEN_QUESTIONS } from "../limits.ts";
import { isPermissionTool, type Message, type Part, type ToolCallPart } from "../program/wire.ts";
import { type PermissionInput, readPermissionInput } from "./permission.ts";

/** The asking model, and the digest of its definition, if the settings have one. */
export interface Asker {
  id: string;
  name: string;
  definition: string | undefined;
}

export interface Question extends PermissionInput {
  callId: string;
  /**
   * The number that stands for it among the parameters; undefined for the call without parameters.
   */
  number: string | undefined;
  asker: Asker;
  isAnswered: boolean;
}

export class Questions {
  private readonly open = new Map<string, Question>();
  private count = 0;

  /** Return the part as the editor is to have it; a question is kept, and named. */
  take(part: Part, asker: Asker): Part {
    if (part.type !== "tool_call" || !isPermissionTool(part.toolName)) {
      return part;
    }
    const { toolCallId: callId, parameters } = part as ToolCallPart;
    const isTaken = [...this.open.values()].some(({ number }) => number === undefined);
    const number = isTaken ? String(++this.count) : undefined;
    this.open.set(callId, {
      ...readPermissionInput(parameters),
      callId,
      number,
      asker,
      isAnswered: false,
    });
    for (const oldest of [...this.open.keys()].slice(0, -MAX_OPEN_QUESTIONS)) {
      this.open.delete(oldest);
    }
    return { ...part, parameters: number === undefined ? {} : { question: number } };
  }

  /** Return the question of a call with these parameters, undefined if it isn't to be answered. */
  find(parameters: unknown): Question | undefined {
    const given = (parameters as { question?: unknown } | null | undefined)?.question;
    return [...this.open.values()].find(
      ({ number, isAnswered }) => number === given && !isAnswered,
    );
  }

  /** Forget the questions whose results are in the history: their calls are over. */
  settle(messages: readonly Message[]): void {
    if (this.open.size === 0) {
      return;
    }
    for (const { content } of messages) {
      for (const part of content) {
        if (part.type === "tool_result") {
          this.open.delete(String(part.toolCallId));
        }
      }
    }
  }
}

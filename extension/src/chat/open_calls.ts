// Tool calls whose results the process waits for. Its answer has ended with them, but the agent's turn
// hasn't: the process that began the turn must get the request that brings the results.

import { MAX_OPEN_CALLS } from "../limits.ts";
import type { Message, Part } from "../program/wire.ts";

export class OpenCalls {
  private readonly ids = new Set<string>();

  get size(): number {
    return this.ids.size;
  }

  /** A part was sent to the editor. */
  sent(part: Part): void {
    const id = idOf(part);
    if (part?.type === "tool_call" && id !== undefined) {
      this.ids.add(id);
      const [oldest] = this.ids;
      if (this.ids.size > MAX_OPEN_CALLS && oldest !== undefined) {
        this.ids.delete(oldest);
      }
    }
  }

  /** Tell whether a request goes on with a turn that made one of the calls. */
  concern(messages: readonly Message[]): boolean {
    return newestCalls(messages).some((id) => this.ids.has(id));
  }

  /** A request goes on with its turn: with the results of the calls, or without them. */
  close(messages: readonly Message[]): void {
    for (const id of newestCalls(messages)) {
      this.ids.delete(id);
    }
  }
}

/** Return the ids in the newest answer, and in whatever was said after it. */
function newestCalls(messages: readonly Message[]): string[] {
  const answer = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(Math.max(0, answer))
    .flatMap(({ content }) => content.map(idOf).filter((id) => id !== undefined));
}

function idOf(part: Part): string | undefined {
  const id: unknown = part && "toolCallId" in part ? part.toolCallId : undefined;
  return typeof id === "string" ? id : undefined;
}

// Questions as the bridge asks them, for tests.

import type { Asker } from "../src/chat/questions.ts";
import { type Message, PERMISSION_TOOL, type ToolCallPart } from "../src/program/wire.ts";

export const asker: Asker = { id: "opencode", name: "OpenCode", definition: "d1" };

export function callOf(toolCallId: string, parameters: object): ToolCallPart {
  return { type: "tool_call", toolCallId, toolName: PERMISSION_TOOL, parameters };
}

export function resultOf(toolCallId: string): Message {
  return { role: "user", content: [{ type: "tool_result", toolCallId, result: [] }] };
}

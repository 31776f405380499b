// From the editor to the wire. Nothing is lost: a part without a word on the wire goes as JSON, under its
// class's name, so that a newer vscodelm may understand it.

import * as vscode from "vscode";
import { base64, plain } from "../json.ts";
import type { ChatOptions, Message, Part, Tool } from "../program/wire.ts";
import { thinkingPartClass } from "./features.ts";

// By number: the stable declarations know two, and editors send the third.
const ROLES: Record<number, Message["role"]> = { 1: "user", 2: "assistant", 3: "system" };

/** Options that editors newer than the declarations send. */
interface NewerOptions {
  requestInitiator?: string;
  modelConfiguration?: object;
}

export function messageToWire(message: vscode.LanguageModelChatRequestMessage): Message {
  return {
    role: ROLES[message.role] ?? "user",
    ...(message.name === undefined || message.name === null ? {} : { name: message.name }),
    content: message.content.map(partToWire),
  };
}

export function partToWire(part: unknown): Part {
  if (part instanceof vscode.LanguageModelTextPart) {
    return { type: "text", value: part.value, ...audienceOf(part) };
  }
  if (part instanceof vscode.LanguageModelToolCallPart) {
    const { callId, name, input } = part;
    return { type: "tool_call", toolCallId: callId, toolName: name, parameters: input };
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    const { isError } = part as { isError?: unknown };
    return {
      type: "tool_result",
      toolCallId: part.callId,
      result: part.content.map(partToWire),
      ...(isError === true ? { isError } : {}),
    };
  }
  if (part instanceof vscode.LanguageModelDataPart) {
    return {
      type: "data",
      mimeType: part.mimeType,
      data: base64(part.data),
      ...audienceOf(part),
    };
  }
  if (part instanceof vscode.LanguageModelPromptTsxPart) {
    return { type: "prompt_tsx", value: plain(part.value) };
  }
  const Thinking = thinkingPartClass();
  if (Thinking && part instanceof Thinking) {
    const { value, id, metadata } = part;
    return {
      type: "thinking",
      value,
      ...(id === undefined ? {} : { id }),
      ...(metadata === undefined ? {} : { metadata: plain(metadata) }),
    };
  }
  return { type: `vscode/${className(part)}`, value: plain(part) };
}

export function optionsToWire(
  options: vscode.ProvideLanguageModelChatResponseOptions,
): ChatOptions {
  const { requestInitiator, modelConfiguration } = options as NewerOptions;
  return {
    ...(options.tools === undefined ? {} : { tools: options.tools.map(toolToWire) }),
    toolMode: options.toolMode === vscode.LanguageModelChatToolMode.Required ? "required" : "auto",
    ...(options.modelOptions === undefined
      ? {}
      : { modelOptions: plain(options.modelOptions) as object }),
    ...(modelConfiguration === undefined
      ? {}
      : { modelConfiguration: plain(modelConfiguration) as object }),
    ...(requestInitiator === undefined ? {} : { requestInitiator }),
  };
}

function toolToWire(tool: vscode.LanguageModelChatTool): Tool {
  return {
    name: tool.name,
    description: tool.description ?? "",
    ...(tool.inputSchema === undefined ? {} : { inputSchema: tool.inputSchema }),
  };
}

/** Return for whom a part is meant, which newer editors say. */
function audienceOf(part: object): { audience?: unknown } {
  const { audience } = part as { audience?: unknown };
  return audience === undefined ? {} : { audience: plain(audience) };
}

function className(part: unknown): string {
  if (typeof part !== "object" || part === null) {
    return typeof part;
  }
  return part.constructor?.name || "object";
}

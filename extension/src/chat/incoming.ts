// From the wire to the editor.

import * as vscode from "vscode";
import type { KnownPart, Part } from "../program/wire.ts";
import { thinkingPartClass } from "./features.ts";

/** The kind of data that carries a part which this version doesn't know. Editors pass it over. */
export const UNKNOWN_MIME_TYPE = "application/vnd.vscodelm.part+json";

/** The parts of an answer. Thinking isn't among the stable declarations. */
type ResponsePart = vscode.LanguageModelResponsePart;

/** Return the editor's part; undefined where this editor has none of that kind. */
export function partFromWire(part: Part): ResponsePart | undefined {
  const known = part as KnownPart;
  switch (known.type) {
    case "text":
      return new vscode.LanguageModelTextPart(known.value);
    case "tool_call":
      return new vscode.LanguageModelToolCallPart(
        known.toolCallId,
        known.toolName,
        known.parameters as object,
      );
    case "data":
      return new vscode.LanguageModelDataPart(
        new Uint8Array(Buffer.from(known.data, "base64")),
        known.mimeType,
      );
    case "thinking": {
      const Thinking = thinkingPartClass();
      return Thinking
        ? (new Thinking(
            known.value,
            known.id ?? undefined,
            (known.metadata ?? undefined) as Record<string, unknown> | undefined,
          ) as unknown as ResponsePart)
        : undefined;
    }
    case "tool_result":
      return new vscode.LanguageModelToolResultPart(known.toolCallId, resultFromWire(known.result));
    default:
      return vscode.LanguageModelDataPart.json(part, UNKNOWN_MIME_TYPE);
  }
}

function resultFromWire(result: unknown): unknown[] {
  const items = Array.isArray(result) ? result : [result];
  return items.map((item) => {
    if (typeof item === "string") {
      return new vscode.LanguageModelTextPart(item);
    }
    const isPart = typeof item === "object" && item !== null && typeof item.type === "string";
    return (isPart && partFromWire(item as Part)) || item;
  });
}

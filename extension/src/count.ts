// Tokens of messages. Editors ask for these tens of thousands of times a chat, so no process is asked.

import type * as vscode from "vscode";
import { countTokens } from "./interim_tokens.ts";
import { partToWire } from "./outgoing.ts";
import type { KnownPart, Part } from "./wire.ts";

/** What a message costs beside its content: its role and its ends. */
const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 765;

/** Estimate the tokens of a text or of a message. */
export function countAll(text: string | vscode.LanguageModelChatRequestMessage): number {
  if (typeof text === "string") {
    return countTokens(text);
  }
  let count = MESSAGE_TOKENS;
  for (const part of contentOf(text)) {
    count += countPart(partToWire(part));
  }
  return count;
}

function contentOf(message: vscode.LanguageModelChatRequestMessage): readonly unknown[] {
  // Editors have given messages whose content is a private field.
  const { content, _content } = message as { content?: unknown; _content?: unknown };
  const found = content ?? _content;
  return Array.isArray(found) ? found : [];
}

function countPart(part: Part): number {
  const known = part as KnownPart;
  switch (known.type) {
    case "text":
      return countTokens(known.value);
    case "tool_call":
      return countTokens(known.toolName) + countTokens(JSON.stringify(known.parameters) ?? "");
    case "tool_result":
      return (known.result as Part[]).reduce((sum, inner) => sum + countPart(inner), 0);
    case "thinking":
      return countTokens([known.value].flat().join(""));
    case "data":
      return known.mimeType.startsWith("image/") ? IMAGE_TOKENS : 0;
    default:
      return countTokens(JSON.stringify(part));
  }
}

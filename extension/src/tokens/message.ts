// Estimates the tokens of a message, or of a chat's tools: `bridge/tokens/message.py` once more.

import type { Message, Part, Tool } from "../program/wire.ts";
import { estimateImage } from "./image.ts";
import { canonicalJson } from "./json.ts";
import { estimateText } from "./text.ts";

const ROLE = 1;
const NAME = 1;
/** The tokens between two messages. Hosts add them to each message's count. */
export const MESSAGE_OVERHEAD = 3;
/** The beginning of the answer, which every request ends with. */
export const REPLY_OVERHEAD = 3;
const CALL_OVERHEAD = 7;
const RESULT_OVERHEAD = 5;
const TOOLS_OVERHEAD = 16;
const TOOL_OVERHEAD = 8;

/** Estimate the tokens of a message; `family` is the model's, for images. */
export function estimateMessage(message: Message, family = ""): number {
  const name = message.name ? NAME + estimateText(message.name) : 0;
  return ROLE + name + sum(message.content.map((part) => ofPart(part, family)));
}

/** Estimate the tokens of the tools' descriptions. */
export function estimateTools(tools: readonly Tool[]): number {
  if (tools.length === 0) {
    return 0;
  }
  const shown = tools.map(({ name, description, inputSchema }) =>
    inputSchema === undefined
      ? { name, description }
      : { name, description, parameters: inputSchema },
  );
  const total = sum(shown.map((tool) => TOOL_OVERHEAD + ofSchema(tool)));
  return Math.floor(((TOOLS_OVERHEAD + total) * 11) / 10);
}

function ofSchema(value: unknown): number {
  if (typeof value === "string") {
    return estimateText(value);
  }
  if (Array.isArray(value)) {
    return sum(value.map((item) => (item ? 1 + ofSchema(item) : 0)));
  }
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  const entries = Object.entries(value);
  return sum(entries.map(([key, item]) => (item ? estimateText(key) + ofSchema(item) : 0)));
}

function ofPart(part: Part, family: string): number {
  const { type, value, toolName, parameters, result } = part as { [key: string]: unknown };
  switch (type) {
    case "text":
      return estimateText(String(value));
    case "thinking":
      return estimateText([value].flat().join(""));
    case "tool_call":
      return CALL_OVERHEAD + estimateText(String(toolName)) + ofJson(parameters);
    case "tool_result":
      return RESULT_OVERHEAD + sum(ofItems(result).map((item) => ofItem(item, family)));
    case "data":
      return ofData(part as DataLike, family);
    default:
      return 0; // of a kind that no agent is told
  }
}

function ofItems(result: unknown): unknown[] {
  return Array.isArray(result) ? result : [result];
}

/** Return the tokens of a tool's result: a text, a part as hosts send it, or any JSON. */
function ofItem(item: unknown, family: string): number {
  if (typeof item === "string") {
    return estimateText(item);
  }
  if (isData(item)) {
    return ofData(item, family);
  }
  const { value } = (item ?? {}) as { value?: unknown };
  return typeof value === "string" ? estimateText(value) : ofJson(item);
}

interface DataLike {
  type: "data";
  mimeType: string;
  data: string;
}

function isData(item: unknown): item is DataLike {
  const { type, mimeType, data } = (item ?? {}) as { [key: string]: unknown };
  return type === "data" && typeof mimeType === "string" && typeof data === "string";
}

function ofData({ mimeType, data }: DataLike, family: string): number {
  if (mimeType.startsWith("image/")) {
    return estimateImage(data, family);
  }
  if (mimeType.startsWith("text/") || mimeType === "application/json") {
    return estimateText(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(data, "base64")),
    );
  }
  return 0; // bookkeeping of the host's, which no model reads
}

function ofJson(value: unknown): number {
  return estimateText(canonicalJson(value));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

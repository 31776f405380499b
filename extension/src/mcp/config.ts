// What stands in an `mcp.json`: JSON with comments, with servers by their names and inputs by their ids.

import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { digestOf } from "../chat/rules.ts";
import { isObject } from "../json.ts";
import type { EnvFile } from "./env_file.ts";

export interface McpInput {
  id: string;
  type: string;
  description?: string;
  default?: string;
  password: boolean;
  options: string[];
}

export interface McpConfig {
  servers: ReadonlyMap<string, unknown>;
  inputs: ReadonlyMap<string, McpInput>;
}

/** Read the text of a file. Throws an error that says what is wrong, and in which line. */
export function readConfig(text: string): McpConfig {
  const errors: ParseError[] = [];
  const found: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split("\n").length;
    throw new Error(`it isn't JSON: ${printParseErrorCode(first.error)} in line ${line}.`);
  }
  const whole = found ?? {};
  if (!isObject(whole) || !isObject(whole.servers ?? {})) {
    throw new Error("it must be an object whose `servers` are an object.");
  }
  const inputs = Array.isArray(whole.inputs) ? whole.inputs.flatMap(readInput) : [];
  return {
    servers: new Map(Object.entries(whole.servers ?? {})),
    inputs: new Map(inputs.map((input) => [input.id, input])),
  };
}

function readInput(input: unknown): McpInput[] {
  if (!isObject(input) || typeof input.id !== "string") {
    return []; // a server that needs it says so
  }
  const options = Array.isArray(input.options) ? input.options : [];
  return [
    {
      id: input.id,
      type: String(input.type),
      ...(typeof input.description === "string" && { description: input.description }),
      ...(typeof input.default === "string" && { default: input.default }),
      password: input.password === true,
      options: options.flatMap((one) => (isObject(one) ? [one.value] : [one])).filter(isText),
    },
  ];
}

/** Return the ids of the inputs that an entry names. */
export function inputsIn(entry: unknown): string[] {
  const text = JSON.stringify(entry) ?? "";
  return [...new Set([...text.matchAll(/\$\{input:([^${}]*)\}/g)].map(([, id]) => id ?? ""))];
}

/**
 * Return a digest of what a consent is given to: an entry, the inputs that it names, and its file of
 * variables. It changes when one of them does.
 */
export function entryDigest(entry: unknown, { inputs }: McpConfig, envFile?: EnvFile): string {
  const named = inputsIn(entry).map((id) => inputs.get(id) ?? null);
  return digestOf({ entry, inputs: named, envFile: envFile ?? null });
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

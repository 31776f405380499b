// Values of the host as JSON. One bad value must not cost the whole request. JSON may have no word
// for it, or it may be nested too deep for the program to read.

import { MAX_JSON_DEPTH } from "./limits.ts";

/** Return whether a value has names and values, as a JSON object has. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Encode a value on one line, as far as JSON can hold it. */
export function encode(value: unknown): string {
  if (isDeep(value)) {
    return JSON.stringify(plain(value));
  }
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(plain(value));
  }
}

/** Whether objects and lists are nested deeper than `room` levels. */
function isDeep(value: unknown, room = MAX_JSON_DEPTH): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) {
    return false;
  }
  return room === 0 || Object.values(value).some((item) => isDeep(item, room - 1));
}

/** Return a value as JSON has it: bytes as base64, whole numbers of any size, no circles, nothing too deep. */
export function plain(value: unknown, above: readonly object[] = []): unknown {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (above.length >= MAX_JSON_DEPTH || above.includes(value)) {
    return null;
  }
  if (value instanceof Uint8Array) {
    return { $base64: base64(value) };
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return plain((value as { toJSON(): unknown }).toJSON(), [...above, value]);
  }
  const within = [...above, value];
  if (Array.isArray(value)) {
    return value.map((item) => plain(item, within));
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, within)]));
}

/** Return bytes as base64, without copying them first. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

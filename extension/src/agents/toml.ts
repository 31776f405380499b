// The models of the settings as vscodelm's own file has them, for its commands in the terminal.

import type { ConfiguredModel } from "./agents.ts";

export function toToml(models: readonly ConfiguredModel[]): string {
  return models.map((model) => `[[models]]\n${lines(model)}`).join("\n");
}

function lines({ information, agent, settings }: ConfiguredModel): string {
  const { capabilities, ...shown } = information;
  const all = { ...shown, ...capabilities, agent, settings };
  return Object.entries(all)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${key} = ${inToml(value)}\n`)
    .join("");
}

function inToml(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(inToml).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .map(([key, item]) => `${quoted(key)} = ${inToml(item)}`);
    return `{ ${fields.join(", ")} }`;
  }
  return typeof value === "string" ? quoted(value) : String(value);
}

/** A JSON string is a TOML string, but for one character. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\x7f", "\\u007f");
}

// The entries of an mcp.json, as VS Code has it: `servers` by their names, and the `inputs` that they ask
// the user for. Whatever else stands in a file is left alone.

import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";

/** A value that an entry asks the user for: `${input:id}`. */
export interface Input {
  id: string;
  type: string;
  description: string | undefined;
  fallback: string | undefined;
  password: boolean;
  options: string[];
}

/** An entry as it stands in its file; its values aren't checked. */
export interface Entry {
  name: string;
  fields: Record<string, unknown>;
  /** The inputs that it names, as the file describes them. */
  inputs: Input[];
  /** The ids of those that the file doesn't describe. */
  unknownInputs: string[];
}

const INPUT = /\$\{input:([^}]*)\}/g;

/** Return the entries of a file. Throws an error that says what is wrong with it as a whole. */
export function entriesIn(text: string): Entry[] {
  const errors: ParseError[] = [];
  const whole: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new Error(`it is no JSON: ${printParseErrorCode(error.error)} in line ${line}`);
  }
  const { servers = {}, inputs = [] } = isObject(whole) ? whole : {};
  if (!isObject(servers)) {
    throw new Error("`servers` is no object");
  }
  const known = (Array.isArray(inputs) ? inputs : []).flatMap(inputOf);
  return Object.entries(servers).map(([name, value]) => {
    const fields = isObject(value) ? value : {};
    const ids = [...new Set(textsIn(fields).flatMap(idsIn))];
    return {
      name,
      fields,
      inputs: known.filter(({ id }) => ids.includes(id)),
      unknownInputs: ids.filter((id) => !known.some((one) => one.id === id)),
    };
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return every text in a value, however deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") {
    return [value];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function idsIn(text: string): string[] {
  return [...text.matchAll(INPUT)].map(([, id]) => id ?? "");
}

function inputOf(value: unknown): Input[] {
  if (!isObject(value) || typeof value.id !== "string") {
    return [];
  }
  const text = (key: string) =>
    typeof value[key] === "string" ? (value[key] as string) : undefined;
  const options = Array.isArray(value.options) ? value.options : [];
  return [
    {
      id: value.id,
      type: text("type") ?? "promptString",
      description: text("description"),
      fallback: text("default"),
      password: value.password === true,
      options: options.flatMap((one) => {
        const option = isObject(one) ? one.value : one;
        return typeof option === "string" ? [option] : [];
      }),
    },
  ];
}

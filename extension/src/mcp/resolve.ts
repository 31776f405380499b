// An entry becomes a server of the wire: variables are filled in, and what an agent can't be told is the
// reason why it isn't given the server. No reason has a value of the entry but the name of its program.

import { isAbsolute, sep } from "node:path";
import { parseEnv } from "node:util";
import type { McpServer } from "../program/wire.ts";
import { type Entry, isObject, textsIn } from "./entries.ts";

/** What an entry is resolved with. */
export interface Surroundings {
  /** The folder that `${workspaceFolder}` means; undefined: no folder is open. */
  folder: string | undefined;
  /** Where agents start their servers. */
  workingFolder: string;
  userHome: string;
  env: Record<string, string | undefined>;
  /** Return the value that the user gave for an input. */
  input(id: string): Promise<string | undefined>;
  /** Return the file of a program, undefined if there is none. */
  find(command: string): Promise<string | undefined>;
  /** Return the text of a file; it rejects if that can't be read. */
  read(file: string): Promise<string>;
}

/** Why an agent can't be given a server. */
export class NotGiven extends Error {}

const VARIABLE = /\$\{([^}]*)\}/g;
const KNOWN =
  /^(workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|\/|(env|input):.+)$/;
const SECRET = /key|token|secret|passw|credential|auth/i;
const TYPES = ["stdio", "http", "sse"];

/** Return the reason that an entry has in itself, undefined if it has none. */
export function whyNot({ fields, inputs, unknownInputs }: Entry): string | undefined {
  const type = typeOf(fields);
  const unknown = textsIn(fields)
    .flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name]) => name ?? ""))
    .find((name) => !KNOWN.test(name));
  const command = inputs.find((input) => !["promptString", "pickString"].includes(input.type));
  if (type === undefined || !TYPES.includes(type)) {
    return type === undefined ? "it has neither a command nor a url" : "its type isn't known";
  } else if (fields.oauth !== undefined) {
    return "VS Code logs in to it with OAuth, and agents can't use that login";
  } else if (fields.sandboxEnabled === true) {
    return "VS Code runs it in a sandbox, and agents would not";
  } else if (unknown !== undefined) {
    return `the variable \${${unknown}} isn't known here`;
  } else if (unknownInputs[0] !== undefined) {
    return `its file doesn't describe the input ${unknownInputs[0]}`;
  } else if (command !== undefined) {
    return `its input ${command.id} isn't asked for, but comes from a command of VS Code`;
  }
  return type === "stdio" ? whyNoProgram(fields) : whyNoAddress(fields);
}

/** Return the type of an entry: VS Code finds out by itself, too, if it isn't said. */
function typeOf({ type, command, url }: Record<string, unknown>): string | undefined {
  if (type !== undefined) {
    return String(type);
  }
  return command !== undefined ? "stdio" : url !== undefined ? "http" : undefined;
}

function whyNoProgram({ command, args = [], env = {}, envFile, cwd }: Record<string, unknown>) {
  const isValue = (one: unknown) => one === null || ["string", "number"].includes(typeof one);
  if (typeof command !== "string" || command === "") {
    return "its command is no text";
  } else if (!Array.isArray(args) || !args.every((one) => typeof one === "string")) {
    return "its args are no list of texts";
  } else if (!isObject(env) || !Object.values(env).every(isValue)) {
    return "its env is no object of texts";
  } else if (!isTextOrNone(envFile) || !isTextOrNone(cwd)) {
    return "its envFile or its cwd is no text";
  } else if (envFile?.includes("${input:")) {
    return "its envFile depends on an input"; // then a change of it would go unnoticed
  }
  return undefined;
}

function whyNoAddress({ url, headers = {} }: Record<string, unknown>) {
  if (typeof url !== "string" || !/^(https?:|\$\{)/.test(url)) {
    return "its url isn't one of http";
  } else if (
    !isObject(headers) ||
    !Object.values(headers).every((one) => typeof one === "string")
  ) {
    return "its headers are no object of texts";
  }
  return undefined;
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Return the variables of the environment whose values an entry gets. */
export function environmentIn({ fields }: Entry): string[] {
  const names = textsIn(fields).flatMap((text) =>
    [...text.matchAll(VARIABLE)].map(([, name]) => name ?? ""),
  );
  return [...new Set(names.filter((name) => name.startsWith("env:")).map((name) => name.slice(4)))];
}

/** Return the server of an entry. Throws `NotGiven` with the reason if there is none. */
export async function resolve(entry: Entry, around: Surroundings): Promise<McpServer> {
  const reason = whyNot(entry);
  if (reason !== undefined) {
    throw new NotGiven(reason);
  }
  const filler = new Filler(around);
  for (const { id, type } of entry.inputs) {
    await filler.learn(id, type);
  }
  const { name, fields } = entry;
  if (typeOf(fields) !== "stdio") {
    const url = filler.fill(fields.url as string);
    if (!/^https?:\/\//.test(url)) {
      throw new NotGiven("its url isn't one of http");
    }
    const headers = pairs(fields.headers, filler);
    const type = typeOf(fields) as "http" | "sse";
    return { name, type, url, headers, ...filler.secrets };
  }
  const command = await programOf(filler.fill(fields.command as string), around);
  if (typeof fields.cwd === "string" && filler.fill(fields.cwd) !== around.workingFolder) {
    throw new NotGiven("it wants another working folder (cwd), which agents can't be told");
  }
  const args = ((fields.args ?? []) as string[]).map((one) => filler.fill(one));
  const fromFile = parseEnv((await envFileOf(entry, around)) ?? "");
  const env = [...pairs(fromFile), ...pairs(fields.env, filler)];
  const last = new Map(env.map((one) => [one.name, one]));
  return { name, command, args, env: [...last.values()], ...filler.secrets };
}

async function programOf(command: string, around: Surroundings): Promise<string> {
  const program = await around.find(command);
  if (program === undefined) {
    throw new NotGiven("its command isn't found: it is neither on PATH nor an absolute path");
  }
  return program;
}

/** Return the text of an entry's file of variables, undefined if it names none. Throws `NotGiven`. */
export async function envFileOf(entry: Entry, around: Surroundings): Promise<string | undefined> {
  const { envFile } = entry.fields;
  if (typeof envFile !== "string") {
    return undefined;
  }
  const path = new Filler(around).fill(envFile);
  if (!isAbsolute(path)) {
    throw new NotGiven("its envFile is no absolute path");
  }
  try {
    return await around.read(path);
  } catch {
    throw new NotGiven("its envFile can't be read");
  }
}

function pairs(values: unknown, filler?: Filler): { name: string; value: string }[] {
  return Object.entries((values ?? {}) as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => ({ name, value: filler?.fill(String(value)) ?? String(value) }));
}

/** Fills variables in, and knows which of the values are secret. */
class Filler {
  private readonly inputs = new Map<string, string>();
  private readonly hidden = new Set<string>();

  constructor(private readonly around: Surroundings) {}

  async learn(id: string, type: string): Promise<void> {
    const value = await this.around.input(id);
    if (value === undefined) {
      throw new NotGiven(`it needs its input ${id}: choose it again to be asked`);
    }
    this.inputs.set(id, value);
    if (type === "promptString" && value !== "") {
      this.hidden.add(value); // the options of the other type stand in the file
    }
  }

  fill(text: string): string {
    return text.replace(VARIABLE, (_, name: string) => this.value(name));
  }

  get secrets(): { secrets?: string[] } {
    return this.hidden.size > 0 ? { secrets: [...this.hidden] } : {};
  }

  private value(name: string): string {
    const { folder, userHome, env } = this.around;
    const [kind, ...rest] = name.split(":");
    const key = rest.join(":");
    switch (kind) {
      case "input":
        return this.inputs.get(key) ?? "";
      case "env": {
        const value = env[key] ?? "";
        if (value !== "" && SECRET.test(key)) {
          this.hidden.add(value);
        }
        return value;
      }
      case "userHome":
        return userHome;
      case "pathSeparator":
      case "/":
        return sep;
      default:
        if (folder === undefined) {
          throw new NotGiven("it needs a folder, and none is open");
        }
        return kind === "workspaceFolder" ? folder : (folder.split(/[\\/]/).at(-1) ?? "");
    }
  }
}

// An entry of an `mcp.json` as the program takes it, or why agents can't be given it. No message shows
// a value of the entry: it may be a secret.

import { basename, isAbsolute, resolve, sep } from "node:path";
import { messageOf } from "../chat/failures.ts";
import { isObject } from "../json.ts";
import { findOnPath, shellEndings, withEnding } from "../program/executable.ts";
import type { McpServer, NamedValue } from "../program/wire.ts";
import { inputsIn, isText, type McpInput } from "./config.ts";
import { type EnvFile, readEnvFile } from "./env_file.ts";

/** What variables in an entry stand for. */
interface Surroundings {
  /** The folder of the file, or else the first one of the window. */
  folder: string | undefined;
  userHome: string;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  inputs: ReadonlyMap<string, McpInput>;
  /** The answers that are kept, by the ids of their inputs. */
  answers: ReadonlyMap<string, string>;
}

/** A server that can be handed over, the inputs that it still needs, or why it can't be. */
export type Resolved = (
  | { server: McpServer; missing: [] }
  | { missing: string[] }
  | { reason: string; missing: [] }
) & {
  /** The file of variables that the entry names, as it was read for the server. */
  envFile?: EnvFile;
};

class Obstacle extends Error {}

/** Resolve an entry; it never rejects. */
export async function resolveEntry(
  name: string,
  entry: unknown,
  around: Surroundings,
): Promise<Resolved> {
  const filling = new Filling(around);
  let envFile: EnvFile | undefined;
  try {
    envFile = envFileOf(entry, filling);
    if (envFile !== undefined) {
      envFile.variables = await variablesOf(envFile.path);
    }
    const server = await serverOf(name, entry, envFile, filling);
    const { missing, secrets } = filling;
    if (missing.size > 0) {
      return { missing: [...missing], ...(envFile && { envFile }) };
    }
    return {
      server: secrets.size > 0 ? { ...server, secrets: [...secrets] } : server,
      missing: [],
      ...(envFile && { envFile }),
    };
  } catch (error) {
    const reason = error instanceof Obstacle ? error.message : messageOf(error);
    return { reason, missing: [], ...(envFile && { envFile }) };
  }
}

async function serverOf(
  name: string,
  entry: unknown,
  envFile: EnvFile | undefined,
  filling: Filling,
): Promise<McpServer> {
  if (!isObject(entry) || name === "") {
    throw new Obstacle("it must be an object, and have a name");
  }
  if (entry.oauth !== undefined) {
    throw new Obstacle("it needs a login by OAuth, which VS Code can't hand over");
  }
  const type = entry.type ?? (entry.command === undefined ? "http" : "stdio");
  if (type === "http" || type === "sse") {
    const url = filling.text(entry.url, "url");
    if (filling.missing.size === 0 && !/^https?:\/\/[^/\s]/.test(url)) {
      throw new Obstacle("its `url` must begin with http:// or https://");
    }
    return { name, type, url, headers: pairs(filling.texts(entry.headers, "headers")) };
  }
  if (type !== "stdio") {
    throw new Obstacle("its type isn't one of stdio, http, sse");
  }
  if (entry.sandboxEnabled === true) {
    throw new Obstacle("it runs in VS Code's sandbox, which agents don't have");
  }
  const { cwd } = entry;
  if (cwd !== undefined && resolve(filling.text(cwd, "cwd")) !== filling.around.folder) {
    throw new Obstacle("it sets `cwd`: agents start servers in the folder of the chat");
  }
  const args = entry.args ?? [];
  if (!Array.isArray(args)) {
    throw new Obstacle("its `args` must be a list of strings");
  }
  const command = await programOf(filling.text(entry.command, "command"), filling.around);
  const program = { command, args: args.map((one) => filling.text(one, "args")) };
  const set = { ...envFile?.variables, ...filling.texts(entry.env, "env") };
  return { name, ...without(unsetIn(entry.env), program, set, filling.around.platform) };
}

function envFileOf(entry: unknown, filling: Filling): EnvFile | undefined {
  const path = isObject(entry) ? entry.envFile : undefined;
  if (path === undefined) {
    return undefined;
  }
  if (inputsIn(path).length > 0) {
    throw new Obstacle("its `envFile` depends on an input"); // nobody can agree to it before the answer
  }
  const file = filling.text(path, "envFile");
  if (!isAbsolute(file)) {
    throw new Obstacle("its `envFile` must be an absolute path");
  }
  return { path: file };
}

async function variablesOf(path: string): Promise<Record<string, string>> {
  try {
    return await readEnvFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Obstacle(`its \`envFile\` can't be read (${code ?? "no text"})`);
  }
}

/** Agents get a whole path where that is known: the protocol asks for it. */
async function programOf(
  command: string,
  { folder, platform, env }: Surroundings,
): Promise<string> {
  const endings = shellEndings(platform, env);
  if (isAbsolute(command)) {
    return (await withEnding(command, endings)) ?? command;
  }
  if (/[\\/]/.test(command)) {
    if (folder === undefined) {
      throw new Obstacle("its `command` is a relative path, and no folder is open");
    }
    const file = resolve(folder, command);
    return (await withEnding(file, endings)) ?? file;
  }
  return (await findOnPath(command, env, endings)) ?? command;
}

/** Return the variables that a server must not inherit: their value in the entry is null. */
function unsetIn(env: unknown): string[] {
  const found = isObject(env) ? Object.entries(env) : [];
  return found.filter(([, value]) => value === null).map(([name]) => name);
}

interface Program {
  command: string;
  args: string[];
}

/**
 * Return how a server starts without some variables. Agents can only set variables: `env -u` unsets
 * them. Windows has no such program; there they are empty.
 */
function without(
  names: string[],
  { command, args }: Program,
  set: Record<string, string>,
  platform: NodeJS.Platform,
): Program & { env: NamedValue[] } {
  const kept = Object.entries(set).filter(([name]) => !names.includes(name));
  if (platform === "win32" || names.length === 0) {
    const empty = names.map((name) => [name, ""] as const);
    return { command, args, env: pairs(Object.fromEntries([...kept, ...empty])) };
  }
  if (command.includes("=") || names.some((name) => name === "" || name.includes("="))) {
    throw new Obstacle(
      "its `env` unsets variables, which isn't possible with a `=` in their names",
    );
  }
  const options = names.flatMap((name) => ["-u", name]);
  const env = pairs(Object.fromEntries(kept));
  return { command: "/usr/bin/env", args: [...options, command, ...args], env };
}

function pairs(texts: Record<string, string>): NamedValue[] {
  return Object.entries(texts).map(([name, value]) => ({ name, value }));
}

/** Fills in variables, and keeps which answers were used and which are missing. */
class Filling {
  readonly missing = new Set<string>();
  /** What the user has typed. */
  readonly secrets = new Set<string>();

  constructor(readonly around: Surroundings) {}

  text(value: unknown, field: string): string {
    if (typeof value === "number" && field !== "url" && field !== "command") {
      return String(value);
    }
    if (!isText(value) || (value === "" && field !== "args" && field !== "env")) {
      throw new Obstacle(`its \`${field}\` must be text`);
    }
    return value.replace(/\$\{([^${}]*)\}/g, (_, variable: string) => this.variable(variable));
  }

  texts(values: unknown, field: string): Record<string, string> {
    if (!isObject(values ?? {})) {
      throw new Obstacle(`its \`${field}\` must be an object of strings`);
    }
    const found = Object.entries(values ?? {}).filter(
      ([, value]) => value !== null || field !== "env",
    );
    return Object.fromEntries(found.map(([name, value]) => [name, this.text(value, field)]));
  }

  private variable(variable: string): string {
    const { folder, userHome, env } = this.around;
    const known: Record<string, string | undefined> = {
      workspaceFolder: folder,
      workspaceFolderBasename: folder && basename(folder),
      userHome,
      pathSeparator: sep,
      "/": sep,
    };
    if (variable.startsWith("input:")) {
      return this.answer(variable.slice("input:".length));
    }
    const value = variable.startsWith("env:")
      ? env[variable.slice("env:".length)]
      : Object.hasOwn(known, variable)
        ? known[variable]
        : undefined;
    if (value === undefined) {
      throw new Obstacle(`its variable \${${variable}} has no value here`);
    }
    return value;
  }

  private answer(id: string): string {
    const input = this.around.inputs.get(id);
    if (input === undefined || !["promptString", "pickString"].includes(input.type)) {
      const why = input?.type === "command" ? "comes from a command of VS Code" : "isn't described";
      throw new Obstacle(`its input "${id}" ${why}`);
    }
    const answer = this.around.answers.get(id);
    if (answer === undefined) {
      this.missing.add(id);
      return "";
    }
    if (input.type === "promptString" && answer !== "") {
      this.secrets.add(answer);
    }
    return answer;
  }
}

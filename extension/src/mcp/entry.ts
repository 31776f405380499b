// An entry of an `mcp.json` as the program takes it, or why agents can't be given it. No message shows
// a value of the entry: it may be a secret.

import { readFile, stat } from "node:fs/promises";
import { basename, isAbsolute, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import { messageOf } from "../chat/failures.ts";
import { MAX_SETTINGS_BYTES } from "../limits.ts";
import { findOnPath } from "../program/executable.ts";
import type { McpServer } from "../program/wire.ts";
import { isObject, isText, type McpInput } from "./config.ts";

/** What variables in an entry stand for. */
export interface Surroundings {
  /** The folder of the file, or else the first one of the window. */
  folder: string | undefined;
  userHome: string;
  env: NodeJS.ProcessEnv;
  inputs: ReadonlyMap<string, McpInput>;
  /** The answers that are kept, by the ids of their inputs. */
  answers: ReadonlyMap<string, string>;
}

/** A server that can be handed over, the inputs that it still needs, or why it can't be. */
export type Resolved =
  | { server: McpServer; missing: [] }
  | { missing: string[] }
  | { reason: string; missing: [] };

class Obstacle extends Error {}

/** Resolve an entry; it never rejects. */
export async function resolveEntry(
  name: string,
  entry: unknown,
  around: Surroundings,
): Promise<Resolved> {
  const filling = new Filling(around);
  try {
    const server = await serverOf(name, entry, filling, around.folder);
    const { missing, secrets } = filling;
    if (missing.size > 0) {
      return { missing: [...missing] };
    }
    return {
      server: secrets.size > 0 ? { ...server, secrets: [...secrets] } : server,
      missing: [],
    };
  } catch (error) {
    return { reason: error instanceof Obstacle ? error.message : messageOf(error), missing: [] };
  }
}

async function serverOf(
  name: string,
  entry: unknown,
  filling: Filling,
  folder: string | undefined,
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
  if (cwd !== undefined && resolve(filling.text(cwd, "cwd")) !== folder) {
    throw new Obstacle("it sets `cwd`: agents start servers in the folder of the chat");
  }
  const args = entry.args ?? [];
  if (!Array.isArray(args)) {
    throw new Obstacle("its `args` must be a list of texts");
  }
  const env = { ...(await envFile(entry.envFile, filling)), ...filling.texts(entry.env, "env") };
  return {
    name,
    command: await programOf(filling.text(entry.command, "command"), folder),
    args: args.map((one) => filling.text(one, "args")),
    env: pairs(env),
  };
}

async function envFile(path: unknown, filling: Filling): Promise<Record<string, string>> {
  if (path === undefined) {
    return {};
  }
  const file = filling.text(path, "envFile");
  try {
    if ((await stat(file)).size > MAX_SETTINGS_BYTES) {
      throw Object.assign(new Error(), { code: "too large" });
    }
    return parseEnv(await readFile(file, "utf8")) as Record<string, string>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Obstacle(`its \`envFile\` can't be read (${code ?? "no text"})`);
  }
}

/** Agents get a whole path where that is known: the protocol asks for it. */
async function programOf(command: string, folder: string | undefined): Promise<string> {
  if (isAbsolute(command)) {
    return command;
  }
  if (/[\\/]/.test(command)) {
    if (folder === undefined) {
      throw new Obstacle("its `command` is a relative path, and no folder is open");
    }
    return resolve(folder, command);
  }
  return (await findOnPath(command)) ?? command;
}

function pairs(texts: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(texts).map(([name, value]) => ({ name, value }));
}

/** Fills in variables, and keeps which answers were used and which are missing. */
class Filling {
  readonly missing = new Set<string>();
  /** What the user has typed. */
  readonly secrets = new Set<string>();

  constructor(private readonly around: Surroundings) {}

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
      throw new Obstacle(`its \`${field}\` must be an object of texts`);
    }
    const found = Object.entries(values ?? {});
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

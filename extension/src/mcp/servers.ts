// The user's own MCP servers for agents: off until the user chooses them, one by one. Those of a folder need
// the user's consent, and need it anew when their entries change.

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { digestOf } from "../chat/rules.ts";
import { workingFolder } from "../configuration.ts";
import { findOnPath, isExecutable } from "../program/executable.ts";
import type { McpServer } from "../program/wire.ts";
import { reporting } from "../reporting.ts";
import { Allowed, type Verdict } from "./allowed.ts";
import type { Entry } from "./entries.ts";
import { type McpFile, placesOf, readFiles, USER } from "./files.ts";
import { Inputs } from "./inputs.ts";
import {
  envFileOf,
  environmentIn,
  NotGiven,
  resolve,
  type Surroundings,
  whyNot,
} from "./resolve.ts";

/** An entry, and whether agents may have it. */
interface Listed {
  file: McpFile;
  entry: Entry;
  /** Of a folder's entry with all that it is made of. */
  digest: string | undefined;
  verdict: Verdict;
  /** Why an agent can't be given it. */
  reason: string | undefined;
}

interface Item extends vscode.QuickPickItem {
  listed?: Listed;
}

type Log = Pick<vscode.LogOutputChannel, "info" | "warn" | "error" | "show">;

/** The endings of programs that can be started, where they have any. */
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];

export class McpServers implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Agents are to be given others than before. */
  readonly onDidChange = this.changed.event;
  private readonly allowed: Allowed;
  private readonly inputs: Inputs;
  private readonly told = new Set<string>();
  private readonly asked = new Set<string>();
  private watches: vscode.Disposable[] = [];
  private given: McpServer[] = [];
  /** The newest reading of the files; each begins when the one before has ended. */
  private reading: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly storage: string,
    memory: vscode.Memento,
    secrets: vscode.SecretStorage,
    private readonly log: Log,
  ) {
    this.allowed = new Allowed(memory);
    this.inputs = new Inputs(secrets);
  }

  dispose(): void {
    this.unwatch();
    this.changed.dispose();
  }

  /** Return the servers that agents are given, as the files are now. */
  async servers(): Promise<McpServer[]> {
    await this.reading;
    return this.given;
  }

  /** Return the names of those that agents were given last. */
  get names(): string[] {
    return this.given.map(({ name }) => name);
  }

  /** Read the files of the window, now and whenever they change. */
  async begin(): Promise<void> {
    this.unwatch();
    const look = reporting(this.log, "mcp.json", () => this.look());
    for (const { path } of await placesOf(this.storage)) {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(join(path, "..")), "mcp.json");
      const watch = vscode.workspace.createFileSystemWatcher(pattern);
      this.watches.push(watch, watch.onDidChange(look), watch.onDidCreate(look));
      this.watches.push(watch.onDidDelete(look));
    }
    await this.look();
  }

  /** Let the user choose those that agents may have. */
  async choose(): Promise<void> {
    const listed = await this.list();
    if (listed.length === 0) {
      void vscode.window.showInformationMessage(
        "There is no MCP server in your mcp.json, nor in that of a folder of this window.",
      );
      return;
    }
    const picked = await vscode.window.showQuickPick(itemsOf(listed), {
      title: "MCP servers that agents get",
      placeHolder: "Agents start them, or call them, with all that their entries hold.",
      canPickMany: true,
      ignoreFocusOut: true,
    });
    if (picked === undefined) {
      return;
    }
    const chosen = new Set(picked.map((item) => item.listed));
    for (const one of listed.filter((one) => one.verdict !== "no" && !chosen.has(one))) {
      await this.refuse(one, listed);
    }
    for (const one of listed.filter((one) => chosen.has(one))) {
      if (one.reason !== undefined) {
        void vscode.window.showWarningMessage(
          `Agents can't be given ${one.entry.name}: ${one.reason}.`,
        );
      } else {
        await this.allow(one);
      }
    }
    await this.look();
    const names = this.names.length > 0 ? this.names.join(", ") : "none";
    void vscode.window.showInformationMessage(
      `MCP servers that agents get: ${names}. A change counts for new chats.`,
    );
  }

  private async allow(one: Listed): Promise<void> {
    const { file, entry, digest, verdict } = one;
    if (digest !== undefined && verdict !== "allowed" && !(await consents(one))) {
      return;
    }
    if (await this.inputs.ask(file.place, entry.name, entry.inputs)) {
      await this.allowed.allow(file.place, entry.name, digest);
    }
  }

  /** Take a permission back, and forget what was typed for it alone. */
  private async refuse({ file, entry }: Listed, listed: Listed[]): Promise<void> {
    await this.allowed.refuse(file.place, entry.name);
    const others = listed.filter(
      (one) => one.file.place === file.place && one.verdict !== "no" && one.entry !== entry,
    );
    const needed = new Set(others.flatMap((one) => one.entry.inputs.map(({ id }) => id)));
    for (const { id } of entry.inputs) {
      if (!needed.has(id)) {
        await this.inputs.forget(file.place, id);
      }
    }
  }

  /** Read the files again, and tell where agents are to be given others. */
  private look(): Promise<void> {
    const next = this.reading.then(() => this.readAgain());
    this.reading = next.catch(() => {});
    return next;
  }

  private async readAgain(): Promise<void> {
    const before = JSON.stringify(this.given);
    const found: McpServer[] = [];
    for (const one of await this.list()) {
      if (one.verdict === "changed") {
        void reporting(this.log, "mcp.json", () => this.askAgain(one))();
      } else if (one.verdict === "allowed") {
        const server = await this.resolved(one);
        if (server !== undefined) {
          found.push({ ...server, name: unlike(server.name, found) });
        }
      }
    }
    this.given = found;
    if (JSON.stringify(found) !== before) {
      this.log.info(`MCP servers that agents get: ${this.names.join(", ") || "none"}`);
      this.changed.fire();
    }
  }

  private async resolved({ file, entry, reason }: Listed): Promise<McpServer | undefined> {
    try {
      if (reason !== undefined) {
        throw new NotGiven(reason);
      }
      return await resolve(entry, this.around(file));
    } catch (error) {
      if (!(error instanceof NotGiven)) {
        throw error;
      }
      this.once(`Agents aren't given the MCP server ${entry.name}: ${error.message}`);
      return undefined;
    }
  }

  /** Ask about a folder's entry that has changed since it was allowed, once for each change. */
  private async askAgain(one: Listed): Promise<void> {
    const key = JSON.stringify([one.file.place, one.entry.name, one.digest]);
    if (this.asked.has(key)) {
      return;
    }
    this.asked.add(key);
    this.once(
      `Agents aren't given the MCP server ${one.entry.name}: its entry has changed, and you weren't asked yet`,
    );
    const answer = await vscode.window.showWarningMessage(
      `The MCP server ${one.entry.name} of ${one.file.origin} has changed since you let agents have it.`,
      "Look at It...",
    );
    if (answer !== undefined && (await consents(one))) {
      if (await this.inputs.ask(one.file.place, one.entry.name, one.entry.inputs)) {
        await this.allowed.allow(one.file.place, one.entry.name, one.digest);
        await this.look();
      }
    }
  }

  private async list(): Promise<Listed[]> {
    const listed: Listed[] = [];
    for (const file of await readFiles(this.storage)) {
      if (file.problem !== undefined) {
        this.once(`${file.path} can't be read for MCP servers: ${file.problem}`);
      }
      const isOwn = file.place === USER;
      if (!isOwn && !vscode.workspace.isTrusted) {
        continue;
      }
      for (const entry of file.entries) {
        const digest = isOwn ? undefined : await this.digest(file, entry);
        const verdict = this.allowed.verdict(file.place, entry.name, digest);
        listed.push({ file, entry, digest, verdict, reason: whyNot(entry) });
      }
    }
    return listed;
  }

  /** Return a digest of all that an entry is made of: its fields, its inputs, and its file of variables. */
  private async digest(file: McpFile, entry: Entry): Promise<string> {
    const variables = await envFileOf(entry, this.around(file)).catch(() => undefined);
    return digestOf({ fields: entry.fields, inputs: entry.inputs, variables });
  }

  private around({ place, folder }: McpFile): Surroundings {
    return {
      folder,
      workingFolder: workingFolder(),
      userHome: homedir(),
      env: process.env,
      input: (id) => this.inputs.get(place, id),
      find: findProgram,
      read: (path) => readFile(path, "utf8"),
    };
  }

  private once(line: string): void {
    if (!this.told.has(line)) {
      this.told.add(line);
      this.log.warn(line);
    }
  }

  private unwatch(): void {
    for (const watch of this.watches.splice(0)) {
      watch.dispose();
    }
  }
}

/** Ask whether agents may have a folder's server: somebody else may have written the entry. */
async function consents({ file, entry }: Listed): Promise<boolean> {
  const allow = "Allow";
  const variables = environmentIn(entry);
  const how = entry.fields.command === undefined ? "It is called at" : "It runs";
  const detail = [
    `${how}: ${subjectOf(entry)}`,
    ...(variables.length > 0
      ? [`It gets these variables of your environment: ${variables.join(", ")}`]
      : []),
    "You are asked again when its entry changes.",
  ];
  const answer = await vscode.window.showWarningMessage(
    `Let agents use the MCP server ${entry.name} of ${file.origin}?`,
    { modal: true, detail: detail.join("\n\n") },
    allow,
  );
  return answer === allow;
}

function itemsOf(listed: Listed[]): Item[] {
  const able = listed.filter(({ reason }) => reason === undefined);
  const others = listed.filter(({ reason }) => reason !== undefined);
  const item = (one: Listed): Item => ({
    label: one.entry.name,
    description: `${one.file.origin}${one.verdict === "changed" ? ", changed since you allowed it" : ""}`,
    detail: one.reason === undefined ? subjectOf(one.entry) : `Can't be given: ${one.reason}`,
    picked: one.verdict === "allowed" && one.reason === undefined,
    listed: one,
  });
  const line = { label: "Agents can't be given these", kind: vscode.QuickPickItemKind.Separator };
  return [...able.map(item), ...(others.length > 0 ? [line] : []), ...others.map(item)];
}

/** Return what an entry starts or calls, as it stands in its file. */
function subjectOf({ fields: { command, args, url } }: Entry): string {
  const words = Array.isArray(args) ? args.map(String) : [];
  return typeof command === "string" ? [command, ...words].join(" ") : String(url);
}

/** Return a name that no other server has. */
function unlike(name: string, others: McpServer[]): string {
  const taken = others.map((one) => one.name);
  let found = name;
  for (let number = 2; taken.includes(found); number++) {
    found = `${name}-${number}`;
  }
  return found;
}

async function findProgram(command: string): Promise<string | undefined> {
  if (isAbsolute(command)) {
    return (await isExecutable(command)) ? command : undefined;
  }
  if (/[\\/]/.test(command)) {
    return undefined;
  }
  for (const ending of ENDINGS) {
    const found = await findOnPath(command, process.env, ending);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

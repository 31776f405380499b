// The MCP servers of the user's that agents are given. None is, until the user has chosen it. One of a
// folder's file is given only as it was when the user agreed to it, with its file of variables.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import { windowFolders } from "../configuration.ts";
import { MAX_SETTINGS_BYTES, MAX_TOLD_QUESTIONS } from "../limits.ts";
import type { McpServer } from "../program/wire.ts";
import { entryDigest, inputsIn, type McpConfig, type McpInput, readConfig } from "./config.ts";
import { type Resolved, resolveEntry } from "./entry.ts";
import { watchEnvFile } from "./env_file.ts";

const KEPT = "mcpServers";
const ANSWER = "mcpInput:";

/** A file with servers; `folder` is that of the window which it belongs to. */
export interface Place {
  file: string;
  folder: string | undefined;
}

/** An entry of a file, as it stands there. */
export interface Listed {
  place: Place;
  name: string;
  entry: unknown;
  digest: string;
  inputs: McpInput[];
  state: "off" | "allowed" | "changed";
  resolved: Resolved;
}

/** What the doctor says of a server. */
export interface Told {
  name: string;
  status: string;
}

interface Kept {
  file: string;
  name: string;
  digest: string;
}

export class McpServers implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  /** Agents are given other servers from now on. */
  readonly onDidChange = this.changes.event;
  private readonly entriesChanged = new vscode.EventEmitter<Listed[]>();
  /** Entries of folders have changed since the user agreed to them; each is told once. */
  readonly onDidChangeEntries = this.entriesChanged.event;
  private readonly told = new Set<string>();
  private readonly vaultWatch: vscode.Disposable;
  /** By their files. */
  private readonly watchers = new Map<string, { dispose(): void }>();
  private reading: Promise<void> | undefined;
  private servers: McpServer[] = [];
  private isDisposed = false;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly vault: vscode.SecretStorage,
    private readonly usersFile: string,
    private readonly log: Pick<vscode.LogOutputChannel, "info" | "warn">,
  ) {
    this.vaultWatch = vault.onDidChange(({ key }) => {
      if (key.startsWith(ANSWER)) {
        void this.refresh();
      }
    });
  }

  /** The servers that agents are given, as last read. */
  get handed(): McpServer[] {
    return this.servers;
  }

  /** Read the files once; it never rejects. */
  ready(): Promise<void> {
    this.reading ??= this.refresh();
    return this.reading;
  }

  /** Watch the files of the window as it is now, and read them. */
  async foldersChanged(): Promise<void> {
    this.watch([...this.watchers.keys()]);
    await this.refresh();
  }

  /** Watch the window's files and these files of variables. Returns whether a file is new among them. */
  private watch(envFiles: string[]): boolean {
    const places = this.places().map(({ file }) => file);
    const wanted = new Set(this.isDisposed ? [] : [...places, ...envFiles]);
    for (const [file, watcher] of this.watchers) {
      if (!wanted.has(file)) {
        watcher.dispose();
        this.watchers.delete(file);
      }
    }
    const others = [...wanted].filter((file) => !this.watchers.has(file));
    const look = () => void this.refresh();
    for (const file of others) {
      const isPlace = places.includes(file);
      this.watchers.set(file, isPlace ? watchPlace(file, look) : watchEnvFile(file, look));
    }
    return others.length > 0;
  }

  /** Read the files again; it never rejects. */
  refresh(): Promise<void> {
    // one after the other: the last one has the files as they are
    const next = (this.reading ?? Promise.resolve()).then(() => this.read());
    this.reading = next.catch((error) => this.once(`MCP servers: ${messageOf(error)}`));
    return this.reading;
  }

  private async read(): Promise<void> {
    const listed = await this.list();
    const servers: McpServer[] = [];
    const chosen = listed.filter(({ state }) => state !== "off");
    for (const { state, resolved, name, place } of chosen) {
      if (state === "allowed" && "server" in resolved) {
        servers.push(resolved.server);
      } else if (state === "allowed" || "reason" in resolved) {
        this.once(
          `Agents aren't given the MCP server "${name}" of ${place.file}: ${why(resolved)}.`,
        );
      }
    }
    if (JSON.stringify(servers) !== JSON.stringify(this.servers)) {
      this.servers = servers;
      this.changes.fire();
    }
    const changed = chosen.filter(
      ({ state, resolved, digest }) =>
        state === "changed" && !("reason" in resolved) && this.isNew(digest),
    );
    if (changed.length > 0) {
      this.entriesChanged.fire(changed);
    }
    if (this.watch(chosen.flatMap(({ resolved: { envFile } }) => envFile?.path ?? []))) {
      void this.refresh(); // one of them may have changed before it was watched
    }
  }

  /** Return the entries of all files. */
  async list(): Promise<Listed[]> {
    const found = await Promise.all(this.places().map((place) => this.listFile(place)));
    return found.flat();
  }

  /** Return what the doctor says of each server: its name and its status, and nothing of its entry. */
  async statuses(): Promise<Told[]> {
    return (await this.list()).map((one) => ({ name: one.name, status: statusOf(one) }));
  }

  private places(): Place[] {
    const folders = vscode.workspace.isTrusted ? windowFolders() : [];
    return [
      { file: this.usersFile, folder: undefined },
      ...folders.map((folder) => ({ file: join(folder, ".vscode", "mcp.json"), folder })),
    ];
  }

  private async listFile(place: Place): Promise<Listed[]> {
    const config = await this.readFile(place.file);
    if (config === undefined) {
      return [];
    }
    const around = {
      folder: place.folder ?? windowFolders()[0],
      userHome: homedir(),
      platform: process.platform,
      env: process.env,
      inputs: config.inputs,
      answers: await this.answers(place, config),
    };
    const names = [...config.servers];
    return Promise.all(
      names.map(async ([name, entry]) => {
        const inputs = inputsIn(entry).flatMap((id) => config.inputs.get(id) ?? []);
        const resolved = await resolveEntry(name, entry, around);
        const digest = entryDigest(entry, config, resolved.envFile);
        const state = this.state(place, name, digest);
        return { place, name, entry, digest, inputs, state, resolved };
      }),
    );
  }

  private async readFile(file: string): Promise<McpConfig | undefined> {
    const uri = vscode.Uri.file(file);
    try {
      const { size } = await vscode.workspace.fs.stat(uri);
      if (size > MAX_SETTINGS_BYTES) {
        throw new Error("it is too large.");
      }
      return readConfig(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "FileNotFound") {
        this.once(`MCP servers of ${file} can't be read: ${messageOf(error)}`);
      }
      return undefined;
    }
  }

  private state({ file, folder }: Place, name: string, digest: string): Listed["state"] {
    const kept = this.kept().find((one) => one.file === file && one.name === name);
    if (kept === undefined) {
      return "off";
    }
    return folder === undefined || kept.digest === digest ? "allowed" : "changed";
  }

  // What the user has agreed to.

  /** Let agents have a server as it is listed. */
  async allow({ place: { file }, name, digest }: Listed): Promise<void> {
    await this.memory.update(KEPT, [...this.without(file, name), { file, name, digest }]);
  }

  /** Let agents have a server no more, and forget the answers that no other needs. */
  async forbid({ place, name, inputs }: Listed): Promise<void> {
    await this.memory.update(KEPT, this.without(place.file, name));
    const others = (await this.listFile(place)).filter(({ state }) => state !== "off");
    const used = new Set(others.flatMap((one) => one.inputs.map(({ id }) => id)));
    for (const { id } of inputs.filter((one) => !used.has(one.id))) {
      await this.vault.delete(answerKey(place.file, id));
    }
  }

  /** Keep the answer to an input. */
  async keep({ file }: Place, id: string, answer: string): Promise<void> {
    await this.vault.store(answerKey(file, id), answer);
  }

  private async answers({ file }: Place, { inputs }: McpConfig): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const id of inputs.keys()) {
      const answer = await this.vault.get(answerKey(file, id));
      if (answer !== undefined) {
        found.set(id, answer);
      }
    }
    return found;
  }

  private kept(): Kept[] {
    return this.memory.get<Kept[]>(KEPT, []);
  }

  private without(file: string, name: string): Kept[] {
    return this.kept().filter((one) => one.file !== file || one.name !== name);
  }

  private isNew(line: string): boolean {
    const isNew = !this.told.has(line);
    this.told.add(line);
    for (const oldest of [...this.told].slice(0, -MAX_TOLD_QUESTIONS)) {
      this.told.delete(oldest);
    }
    return isNew;
  }

  private once(line: string): void {
    if (this.isNew(line)) {
      this.log.warn(line);
    }
  }

  dispose(): void {
    this.isDisposed = true;
    this.watch([]);
    this.vaultWatch.dispose();
    this.changes.dispose();
    this.entriesChanged.dispose();
  }
}

function watchPlace(file: string, changed: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher(
    new vscode.RelativePattern(vscode.Uri.file(dirname(file)), basename(file)),
  );
  const looks = [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete];
  return vscode.Disposable.from(watcher, ...looks.map((event) => event(changed)));
}

function statusOf({ resolved, state }: Listed): string {
  if ("reason" in resolved) {
    return `can't be given to agents: ${resolved.reason}`;
  }
  switch (state) {
    case "off":
      return "not chosen for agents";
    case "changed":
      return "waits for your consent: it has changed since you agreed";
    case "allowed":
      return resolved.missing.length > 0
        ? why(resolved)
        : `handed over to agents${mayNeedLogin(resolved) ? "; if it needs a login, they can't use it" : ""}`;
  }
}

/** Return whether a server has an address, and no header that logs agents in. */
export function mayNeedLogin(resolved: Resolved): boolean {
  if (!("server" in resolved) || "command" in resolved.server) {
    return false;
  }
  return !resolved.server.headers.some(({ name }) => name.toLowerCase() === "authorization");
}

/** Return why a server isn't handed over; no text if it is. */
export function why(resolved: Resolved): string {
  if ("reason" in resolved) {
    return resolved.reason;
  }
  const { missing } = resolved;
  return missing.length > 0 ? `it needs an answer to ${missing.join(", ")}` : "";
}

/** Each file has its own answers: a folder's file can't ask for those of another. */
function answerKey(file: string, id: string): string {
  return `${ANSWER}${createHash("sha256").update(file).digest("hex")}:${id}`;
}

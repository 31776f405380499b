// A fake of the editor's window, its settings and its commands, and of the person before it: `person`
// says what they do, and has what they were shown.

import { readFile, stat } from "node:fs/promises";
import { join, matchesGlob, relative } from "node:path";
import type * as real from "vscode";
import { closeBoxes, FakeInputBox, FakeQuickPick, QuickInputButtons, ThemeIcon } from "./boxes.ts";
import { BuiltInChat } from "./chat.ts";
import { Disposable, EventEmitter } from "./events.ts";
import { type Layer, Settings } from "./settings.ts";

export { QuickInputButtons, ThemeIcon };

interface Item {
  label: string;
}

interface Terminal {
  name: string;
  shellPath: string;
  shellArgs: string[];
  env: NodeJS.ProcessEnv;
  isTransient?: boolean;
}

interface Progress {
  report(step: { message: string }): void;
}

interface Token {
  isCancellationRequested: boolean;
  onCancellationRequested: (listener: () => void) => { dispose(): void };
}

/** Who types this takes what the box proposes. */
export const AS_PROPOSED = Symbol("as proposed");

interface RunningTask {
  task: real.Task;
  /** End it. */
  end(exitCode: number | undefined): void;
}

/** A page in a tab. */
export class FakePanel {
  visible = true;
  /** How often it was brought to the front. */
  revealed = 0;
  isOpen = true;
  /** Whether the page is there; a message before that is never delivered. */
  isLoaded = true;
  readonly sent: { type: string; events: unknown[] }[] = [];
  private readonly disposed = new EventEmitter<void>();
  private readonly changed = new EventEmitter<void>();
  private readonly received = new EventEmitter<unknown>();
  readonly onDidDispose = this.disposed.event;
  readonly onDidChangeViewState = this.changed.event;
  readonly webview = {
    html: "",
    onDidReceiveMessage: this.received.event,
    postMessage: async (message: { type: string; events: unknown[] }) => {
      if (!this.isLoaded) {
        return new Promise(() => {});
      }
      this.sent.push(message);
      return true;
    },
  };

  constructor(
    readonly type: string,
    readonly title: string,
    readonly options: object,
  ) {}

  reveal() {
    this.revealed++;
  }

  /** The script of the page says something. */
  says(message: unknown) {
    this.received.fire(message);
  }

  /** Another tab is put before it, or it comes back. */
  turn(visible: boolean) {
    this.visible = visible;
    this.changed.fire();
  }

  dispose() {
    this.isOpen = false;
    this.disposed.fire();
  }
}

class Person {
  /** What they saw of what takes long. */
  readonly stages: string[] = [];
  /** What they cancel when they see it. */
  cancelsAt: string | undefined;
  /** The texts of all messages. */
  readonly asked: string[] = [];
  /** What stood below them. */
  readonly details: string[] = [];
  /** The button that they press on every message that has it. */
  presses: string | undefined;
  /** What they choose from lists, one after the other; they leave a list without the next of it. */
  picks: string[] = [];
  /** What they tick in lists of which they may choose several, one list after the other. */
  ticks: string[][] = [];
  /** The lines below the entries of the last such list. */
  readonly explained = new Map<string, string>();
  /** The lists that they saw. */
  readonly lists: string[][] = [];
  /** What they type into boxes, one after the other; they leave the box after the last. */
  types: (string | typeof AS_PROPOSED)[] = [];
  /** What boxes said of something that they didn't take. */
  readonly refused: string[] = [];
  /** The boxes that they saw. */
  readonly boxes: real.InputBoxOptions[] = [];
  readonly terminals: Terminal[] = [];
  /** The commands of others that were run, with their arguments. */
  readonly ran: unknown[][] = [];
  /** A command that their editor doesn't have. */
  lacks: string | undefined;
  /** The text in the status bar while it is shown, each time that it changed. */
  readonly status: string[] = [];
  /** The lines in the log. */
  readonly log: string[] = [];
  /** The pages that were opened in a browser. */
  readonly pages: string[] = [];
  /** Whether they let the editor open pages. */
  opensPages = true;
  /** The text that was copied last. */
  clipboard = "";
  /** The documents that are open before them, by their addresses. */
  readonly documents = new Map<string, string>();
  /** The pages that were opened in tabs. */
  readonly panels: FakePanel[] = [];
  /** What runs in terminals as tasks. */
  readonly tasks: RunningTask[] = [];
  /** Wait until they cancel what takes a while; undefined: they never do. */
  cancels: (() => Promise<unknown>) | undefined;
  /** Whether the log was put before them. */
  sawLog = false;
}

export let person = new Person();

const registered = new Map<string, (...args: unknown[]) => unknown>();
let settings = new Settings();
const changed = new EventEmitter<real.ConfigurationChangeEvent>();
const foldersChanged = new EventEmitter<real.WorkspaceFoldersChangeEvent>();
export const fileChanged = new EventEmitter<void>();
/** What the editor notices of the files of its folders. */
const fileEvents = {
  created: new EventEmitter<FakeUri>(),
  changed: new EventEmitter<FakeUri>(),
  deleted: new EventEmitter<FakeUri>(),
};
/** What the editor itself has done with files. */
const done = {
  saved: new EventEmitter<{ uri: FakeUri }>(),
  notebookSaved: new EventEmitter<{ uri: FakeUri }>(),
  created: new EventEmitter<{ files: FakeUri[] }>(),
  deleted: new EventEmitter<{ files: FakeUri[] }>(),
  renamed: new EventEmitter<{ files: { oldUri: FakeUri; newUri: FakeUri }[] }>(),
};
/** The files that are watched. */
export const watched = new Set<string>();
const provided = new Map<string, unknown>();
const documentChanged = new EventEmitter<unknown>();
/** The buffers that are open. */
const buffers: Buffered[] = [];
const documentClosed = new EventEmitter<{ uri: FakeUri }>();
const taskEnded = new EventEmitter<{ execution: unknown; exitCode: number | undefined }>();
const contents = new Map<string, real.TextDocumentContentProvider>();
const lenses = new Map<string, real.CodeLensProvider>();
export let chat = new BuiltInChat(provided);

/** Be an editor that has just been opened, with somebody else before it. */
export function openAnew(how: { isRemote?: boolean; honoursScopes?: boolean } = {}): void {
  person = new Person();
  closeBoxes();
  registered.clear();
  settings = Object.assign(new Settings(), how);
  env.remoteName = how.isRemote ? "elsewhere" : undefined;
  settings.changed.event((change) => changed.fire(change));
  provided.clear();
  chat = new BuiltInChat(provided);
  changed.dispose();
  foldersChanged.dispose();
  workspace.workspaceFolders = undefined;
  workspace.workspaceFile = undefined;
  workspace.isTrusted = true;
  fileChanged.dispose();
  watched.clear();
  Object.values(fileEvents).forEach((event) => void event.dispose());
  Object.values(done).forEach((event) => void event.dispose());
  git.ignored.clear();
  git.committed.clear();
  Object.assign(git, { isThere: false, answers: true });
}

/** Notice that a file has changed, whoever did that. */
export function notice(happened: keyof typeof fileEvents, path: string): void {
  fileEvents[happened].fire(Uri.file(path));
}

/** Save a file in the editor. */
export function save(path: string): void {
  done.saved.fire({ uri: Uri.file(path) });
}

/** Delete a file in the editor, or rename it. */
export function remove(path: string, to?: string): void {
  if (to === undefined) {
    done.deleted.fire({ files: [Uri.file(path)] });
  } else {
    done.renamed.fire({ files: [{ oldUri: Uri.file(path), newUri: Uri.file(to) }] });
  }
}

/** The repository that the built-in git extension has, for all files. */
export const git = {
  isThere: false,
  /** The files that it ignores. */
  ignored: new Set<string>(),
  /** The files in the last commit. */
  committed: new Set<string>(),
  /** Whether it ever answers which files it ignores. */
  answers: true,
  checkIgnore: async (paths: string[]): Promise<ReadonlySet<string>> =>
    git.answers
      ? new Set(paths.filter((path) => git.ignored.has(path)))
      : new Promise<never>(() => {}),
  async show(_: string, path: string) {
    if (!git.committed.has(path)) {
      throw new Error("fatal: path isn't in HEAD");
    }
    return "committed";
  },
};

/** The interface of the git extension. */
const gitExports = {
  getAPI: () => ({
    getRepository: () => git,
    toGitUri: (uri: { path: string }, ref: string) => ({ ...uri, scheme: "git", query: ref }),
  }),
};

/** Change a setting: by default one of the user's own. */
export function configure(key: string, value: unknown, layer?: Layer): void {
  settings.write(key, value, layer);
}

/** Add a folder to those of the window. */
export function openFolder(path: string): void {
  const folders = workspace.workspaceFolders ?? [];
  workspace.workspaceFolders = [...folders, { uri: { scheme: "file", fsPath: path } }];
  foldersChanged.fire({ added: [], removed: [] });
}

/** Return what was registered under a name: a provider of models, or a tool. */
export function providerOf<T>(name: string): T {
  return provided.get(name) as T;
}

/** Return what stands in a settings file: by default in the person's own. */
export function setting(key: string, layer?: Layer): unknown {
  return settings.written(key, layer);
}

async function message(text: string, ...rest: unknown[]): Promise<string | undefined> {
  person.asked.push(text);
  const [{ detail } = {}] = rest as [{ detail?: string }?];
  if (detail !== undefined) {
    person.details.push(detail);
  }
  return rest.includes(person.presses) ? person.presses : undefined;
}

export const window = {
  showInformationMessage: message,
  showErrorMessage: message,
  showWarningMessage: message,
  async withProgress<T>(_: unknown, task: (progress: Progress, token: Token) => Promise<T>) {
    const cancelled = new EventEmitter<unknown>();
    const token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
    const cancel = () => {
      token.isCancellationRequested = true;
      cancelled.fire(undefined);
    };
    const report = ({ message: text }: { message: string }) => {
      person.stages.push(text);
      if (text === person.cancelsAt) {
        cancel();
      }
    };
    void person.cancels?.().then(cancel);
    return task({ report }, token);
  },
  async showTextDocument({ uri, text }: { uri: FakeUri; text: string }) {
    person.documents.set(uri.toString(), text);
  },
  async showQuickPick<T extends Item | string>(
    items: readonly T[],
    options?: real.QuickPickOptions,
  ): Promise<T | readonly T[] | undefined> {
    const labels = items.map((item) => (typeof item === "string" ? item : item.label));
    person.lists.push(labels);
    if (options?.canPickMany) {
      for (const item of items as readonly (Item & { detail?: string })[]) {
        person.explained.set(item.label, item.detail ?? "");
      }
      const ticked = person.ticks.shift();
      return ticked && items.filter((_, at) => ticked.includes(labels[at] ?? ""));
    }
    const next = person.picks.shift();
    return next === undefined ? undefined : items[labels.indexOf(next)];
  },
  async showInputBox(options: real.InputBoxOptions): Promise<string | undefined> {
    person.boxes.push(options);
    for (;;) {
      const typed = person.types.shift();
      const value = typed === AS_PROPOSED ? (options.value ?? "") : typed;
      const said = value === undefined ? undefined : await options.validateInput?.(value);
      if (!said || (typeof said !== "string" && said.severity !== 3)) {
        return value; // a warning stops nobody
      }
      person.refused.push(typeof said === "string" ? said : said.message);
    }
  },
  createWebviewPanel(type: string, title: string, _place: unknown, options: object) {
    const panel = new FakePanel(type, title, options);
    person.panels.push(panel);
    return panel;
  },
  createInputBox: () => new FakeInputBox(),
  createQuickPick: <T extends real.QuickPickItem>() => new FakeQuickPick<T>(),
  createTerminal(terminal: Terminal) {
    return { show: () => person.terminals.push(terminal) };
  },
  createOutputChannel() {
    const write = (line: string) => person.log.push(line);
    const show = () => {
      person.sawLog = true;
    };
    const levels = { debug: write, info: write, warn: write, error: write };
    return { ...levels, show, logLevel: LogLevel.Info, dispose() {} };
  },
  setStatusBarMessage(text: string) {
    person.status.push(text);
    return new Disposable(() => {});
  },
  createStatusBarItem() {
    const item = {
      name: "",
      text: "",
      tooltip: "",
      command: "",
      show: () => person.status.push(item.text),
      hide: () => person.status.push(""),
      dispose() {},
    };
    return item;
  },
};

export const commands = {
  registerCommand(name: string, run: (...args: unknown[]) => unknown) {
    registered.set(name, run);
    return new Disposable(() => registered.delete(name));
  },
  /** Commands that nobody here registered are the editor's. */
  async executeCommand(name: string, ...args: unknown[]): Promise<unknown> {
    const own = registered.get(name);
    if (own !== undefined) {
      return own(...args);
    }
    if (person.lacks === name) {
      throw new Error(`command '${name}' not found`);
    }
    person.ran.push([name, ...args]);
    return chat.commands[name]?.(...(args as [never, never]));
  },
  getCommands: async (filtersInternal = false) =>
    [...registered.keys()].filter((name) => !filtersInternal || !name.startsWith("_")),
};

interface Buffered {
  uri: FakeUri & { fsPath: string };
  isDirty: boolean;
  isClosed: boolean;
  text: string;
  getText(): string;
}

/** Open a file in a buffer with this text; `change` gives it another. */
export function openBuffer(path: string, text: string, isDirty = false) {
  const buffer: Buffered = {
    ...{ uri: Uri.file(path), isDirty, isClosed: false, text },
    getText: () => buffer.text,
  };
  buffers.push(buffer);
  return {
    change(to: string, dirty = buffer.isDirty) {
      Object.assign(buffer, { text: to, isDirty: dirty });
      documentChanged.fire({ document: buffer });
    },
    close() {
      buffer.isClosed = true;
      buffers.splice(buffers.indexOf(buffer), 1);
    },
  };
}

interface Place {
  scheme?: string;
  fsPath: string;
}

export const workspace = {
  workspaceFolders: undefined as { uri: Place }[] | undefined,
  workspaceFile: undefined as Place | undefined,
  isTrusted: true,
  createFileSystemWatcher(files: RelativePattern | string) {
    if (typeof files === "string") {
      watched.add(files);
      return {
        onDidChange: fileEvents.changed.event,
        onDidCreate: fileEvents.created.event,
        onDidDelete: fileEvents.deleted.event,
        dispose: () => watched.delete(files),
      };
    }
    const { base, pattern } = files;
    const file = `${base.fsPath}/${pattern}`;
    watched.add(file);
    return {
      onDidChange: fileChanged.event,
      onDidCreate: fileChanged.event,
      onDidDelete: fileChanged.event,
      dispose: () => watched.delete(file),
    };
  },
  onDidChangeConfiguration: changed.event,
  onDidChangeWorkspaceFolders: foldersChanged.event,
  onDidSaveTextDocument: done.saved.event,
  onDidSaveNotebookDocument: done.notebookSaved.event,
  onDidCreateFiles: done.created.event,
  onDidDeleteFiles: done.deleted.event,
  onDidRenameFiles: done.renamed.event,
  onDidCloseTextDocument: documentClosed.event,
  onDidChangeTextDocument: documentChanged.event,
  textDocuments: buffers,
  registerTextDocumentContentProvider(scheme: string, found: real.TextDocumentContentProvider) {
    contents.set(scheme, found);
    return new Disposable(() => contents.delete(scheme));
  },
  async openTextDocument(what: FakeUri | { language: string; content: string }) {
    if ("content" in what) {
      const path = `Untitled-${person.documents.size + 1}`;
      return { uri: Uri.from({ scheme: "untitled", path }), text: what.content };
    }
    const uri = what;
    const text = contents.get(uri.scheme)?.provideTextDocumentContent(uri as real.Uri, never);
    return { uri, text };
  },
  getConfiguration: (section: string) => settings.of(section),
  fs: {
    stat: ({ fsPath }: Place) =>
      stat(fsPath).then(
        (found) => ({
          size: found.size,
          mtime: found.mtimeMs,
          type: found.isDirectory() ? FileType.Directory : FileType.File,
        }),
        notFound,
      ),
    readFile: ({ fsPath }: Place) => readFile(fsPath).catch(notFound),
  },
};

function notFound(error: NodeJS.ErrnoException): never {
  throw error.code === "ENOENT" ? Object.assign(error, { code: "FileNotFound" }) : error;
}

export const lm = {
  registerLanguageModelChatProvider(vendor: string, provider: unknown) {
    provided.set(vendor, provider);
    return new Disposable(() => provided.delete(vendor));
  },
  registerTool(name: string, tool: unknown) {
    provided.set(name, tool);
    return new Disposable(() => provided.delete(name));
  },
  selectChatModels: async (selector: { vendor?: string; id?: string }) => chat.models(selector),
  onDidChangeChatModels: (listener: () => void) => chat.listed.event(listener),
};

export const extensions = {
  getExtension(id: string) {
    if (id === "vscode.git") {
      return git.isThere ? { id, exports: gitExports } : undefined;
    }
    return id === "GitHub.copilot-chat" && chat.isOn ? { id, activate: async () => {} } : undefined;
  },
  onDidChange: (listener: () => void) => chat.switched.event(listener),
};

export const languages = {
  /** Tell whether a file fits one of these patterns, as far as they name no language. */
  match: (selector: { pattern: RelativePattern }[], { uri }: { uri: Place }) =>
    selector.some(({ pattern: { base, pattern } }) =>
      matchesGlob(
        relative((base as { uri?: Place }).uri?.fsPath ?? base.fsPath, uri.fsPath),
        pattern,
      ),
    )
      ? 10
      : 0,
  createLanguageStatusItem: (id: string) => ({ id, name: "", text: "", detail: "", dispose() {} }),
  registerCodeLensProvider({ scheme }: { scheme: string }, found: real.CodeLensProvider) {
    lenses.set(scheme, found);
    return new Disposable(() => lenses.delete(scheme));
  },
};

export const tasks = {
  onDidEndTaskProcess: taskEnded.event,
  async executeTask(task: real.Task) {
    const execution = { task };
    person.tasks.push({ task, end: (exitCode) => taskEnded.fire({ execution, exitCode }) });
    return execution;
  },
};

/** Return the buttons in a document, by what they say; each runs as it does when it is pressed. */
export function buttonsIn(address: string): Map<string, () => Promise<unknown>> {
  const uri = Uri.parse(address);
  const found = lenses.get(uri.scheme)?.provideCodeLenses({ uri } as never, never) ?? [];
  return new Map(
    (found as real.CodeLens[]).map(({ command }) => [
      command?.title ?? "",
      async () => commands.executeCommand(command?.command ?? "", ...(command?.arguments ?? [])),
    ]),
  );
}

/** Close a document, as the person does. */
export function closeDocument(address: string): void {
  person.documents.delete(address);
  documentClosed.fire({ uri: Uri.parse(address) });
}

export const env = {
  appName: "Fake",
  remoteName: undefined as string | undefined,
  async openExternal(uri: FakeUri) {
    if (person.opensPages) {
      person.pages.push(uri.toString());
    }
    return person.opensPages;
  },
  clipboard: {
    async writeText(text: string) {
      person.clipboard = text;
    },
  },
};
export const version = "1.120.0";
interface FakeUri {
  scheme: string;
  path: string;
}

const never = undefined as never;

export class Task {
  presentationOptions = {};

  constructor(
    readonly definition: real.TaskDefinition,
    readonly scope: unknown,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}

export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: string[],
    readonly options: real.ProcessExecutionOptions,
  ) {}
}

export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}
}

export class CodeLens {
  constructor(
    readonly range: Range,
    readonly command: real.Command,
  ) {}
}

export enum TaskScope {
  Global = 1,
  Workspace = 2,
}

export enum TaskRevealKind {
  Always = 1,
}

export enum TaskPanelKind {
  New = 3,
}

export class RelativePattern {
  constructor(
    readonly base: Place,
    readonly pattern: string,
  ) {}
}

export const Uri = {
  from: ({ scheme, path }: FakeUri) => ({ scheme, path, toString: () => `${scheme}:${path}` }),
  parse(address: string) {
    const at = address.indexOf(":");
    return Uri.from({ scheme: address.slice(0, at), path: address.slice(at + 1) });
  },
  file(fsPath: string) {
    const uri = { ...Uri.from({ scheme: "file", path: fsPath }), fsPath, query: "" };
    return { ...uri, with: (change: object) => ({ ...uri, ...change }) };
  },
  joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => ({
    fsPath: join(fsPath, ...parts),
  }),
};

export enum FileType {
  Unknown = 0,
  File = 1,
  Directory = 2,
  SymbolicLink = 64,
}

export enum LogLevel {
  Off = 0,
  Trace = 1,
  Debug = 2,
  Info = 3,
  Warning = 4,
  Error = 5,
}

export enum ViewColumn {
  Active = -1,
}

export enum ProgressLocation {
  SourceControl = 1,
  Window = 10,
  Notification = 15,
}

export enum StatusBarAlignment {
  Left = 1,
  Right = 2,
}

export enum InputBoxValidationSeverity {
  Info = 1,
  Warning = 2,
  Error = 3,
}

export enum QuickPickItemKind {
  Separator = -1,
  Default = 0,
}

export enum ConfigurationTarget {
  Global = 1,
  Workspace = 2,
  WorkspaceFolder = 3,
}

/** What the real module lacks is an error here. */
type Names<Module> = { [Name in keyof Module]?: unknown };
export const named = {
  ...{ window, commands, workspace, lm, extensions, env, Uri, tasks, languages },
} satisfies {
  window: Names<typeof real.window>;
  commands: Names<typeof real.commands>;
  workspace: Names<typeof real.workspace>;
  lm: Names<typeof real.lm>;
  extensions: Names<typeof real.extensions>;
  env: Names<typeof real.env>;
  Uri: Names<typeof real.Uri>;
  tasks: Names<typeof real.tasks>;
  languages: Names<typeof real.languages>;
};

// The files of the workspace that change while an agent works, though the editor hasn't changed them.
//
// The editor's watcher doesn't tell who has changed a file. So a file is left out if it still is as the
// editor has written it last: by an edit of the user's, or of a tool.

import { dirname } from "node:path";
import * as vscode from "vscode";
import type { Teller } from "../program/process.ts";
import type { WatchedFiles } from "../program/wire.ts";
import { ignoredByGit } from "./git.ts";

/** Changed files that are kept in one turn; further ones are counted. */
export const MOST_KEPT = 20_000;
/** Changed files that are looked at when the turn ends; further ones are counted. */
export const MOST_LOOKED_AT = 1_000;
/** Changed files that are named; further ones are counted. */
export const MOST_NAMED = 100;
/** Turns of a process that are watched at once; for a further one the oldest is given up. */
export const MOST_WATCHES = 100;

type Happened = "created" | "changed" | "deleted";

/** The changes of one turn. */
class Watch {
  readonly happened = new Map<string, Happened>();
  more = 0;

  note(path: string, now: Happened): void {
    const before = this.happened.get(path);
    if (before === undefined && this.happened.size >= MOST_KEPT) {
      this.more++;
    } else if (before === "created" && now === "deleted") {
      this.happened.delete(path); // nothing is left of it
    } else if (before !== "created") {
      this.happened.set(path, before === "deleted" ? "changed" : now);
    }
  }
}

export class TurnWatches implements vscode.Disposable {
  private readonly watches = new Map<Teller, Map<number, Watch>>();
  /** The files that the editor has written while there was a watch, each with its time then. */
  private readonly written = new Map<string, Promise<number | undefined>>();
  private listening: vscode.Disposable | undefined;

  /** Begin or end a watch, as a process says. */
  watch(from: Teller, params: unknown): void {
    const { watch, isOver } = (params ?? {}) as { watch?: unknown; isOver?: unknown };
    if (typeof watch !== "number") {
      return;
    }
    const own = this.watches.get(from) ?? this.begun(from);
    own.delete(watch);
    if (isOver !== true) {
      own.set(watch, new Watch());
      const [oldest] = own.keys();
      if (own.size > MOST_WATCHES && oldest !== undefined) {
        own.delete(oldest);
      }
    }
    this.listen();
  }

  /** Return what has changed since a watch began. */
  async changed(from: Teller, params: unknown): Promise<WatchedFiles> {
    const { watch: number } = (params ?? {}) as { watch?: unknown };
    const watch = this.watches.get(from)?.get(number as number);
    if (watch === undefined) {
      return { paths: [], more: 0 };
    }
    const isLeftOut = exclusion();
    const all = [...watch.happened.keys()].filter((path) => !isLeftOut(vscode.Uri.file(path)));
    const ignored = await ignoredByGit(all);
    const left = all.filter((path) => !ignored.has(path));
    const looked = await Promise.all(
      left.slice(0, MOST_LOOKED_AT).map(async (path) => (await this.isOthers(path)) && path),
    );
    const paths = looked.filter((path) => path !== false);
    const more = Math.max(0, left.length - MOST_LOOKED_AT) + Math.max(0, paths.length - MOST_NAMED);
    return { paths: paths.slice(0, MOST_NAMED), more: watch.more + more };
  }

  dispose(): void {
    this.watches.clear();
    this.listen();
  }

  private begun(from: Teller): Map<number, Watch> {
    const own = new Map<number, Watch>();
    this.watches.set(from, own);
    void from.gone.then(() => {
      this.watches.delete(from);
      this.listen();
    });
    return own;
  }

  /** Listen to the editor while there is a watch, and no longer. */
  private listen(): void {
    const isNeeded = [...this.watches.values()].some((own) => own.size > 0);
    if (isNeeded === (this.listening !== undefined)) {
      return;
    }
    this.listening?.dispose();
    this.listening = undefined;
    this.written.clear();
    if (isNeeded) {
      this.listening = this.listened();
    }
  }

  private listened(): vscode.Disposable {
    const { workspace } = vscode;
    const watcher = workspace.createFileSystemWatcher("**/*"); // the editor has this one anyway
    const wrote = ({ uri }: { uri: vscode.Uri }) => this.wrote(uri);
    const wroteAll = ({ files }: { files: readonly vscode.Uri[] }) =>
      files.forEach((uri) => void this.wrote(uri));
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate((uri) => this.note(uri, "created")),
      watcher.onDidChange((uri) => this.note(uri, "changed")),
      watcher.onDidDelete((uri) => this.note(uri, "deleted")),
      workspace.onDidSaveTextDocument(wrote),
      workspace.onDidSaveNotebookDocument(wrote),
      workspace.onDidCreateFiles(wroteAll),
      workspace.onDidDeleteFiles(wroteAll),
      workspace.onDidRenameFiles(({ files }) =>
        wroteAll({ files: files.flatMap(({ oldUri, newUri }) => [oldUri, newUri]) }),
      ),
    );
  }

  private note({ scheme, fsPath }: vscode.Uri, happened: Happened): void {
    if (scheme === "file") {
      for (const own of this.watches.values()) {
        own.forEach((watch) => void watch.note(fsPath, happened));
      }
    }
  }

  private wrote(uri: vscode.Uri): void {
    this.written.set(
      uri.fsPath,
      about(uri).then((found) => found?.mtime),
    );
  }

  /** Tell whether others than the editor have changed a file last. */
  private async isOthers(path: string): Promise<boolean> {
    const now = await about(vscode.Uri.file(path));
    if (now !== undefined && now.type & vscode.FileType.Directory) {
      return false;
    }
    return !this.written.has(path) || (await this.written.get(path)) !== now?.mtime;
  }
}

async function about(uri: vscode.Uri): Promise<vscode.FileStat | undefined> {
  try {
    return await vscode.workspace.fs.stat(uri);
  } catch {
    return undefined; // it is gone
  }
}

/** Return what tells whether the setting `files.exclude` leaves a file out, or a folder that it is in. */
function exclusion(): (uri: vscode.Uri) => boolean {
  const known = new Map<string, boolean>();
  const patterns = (vscode.workspace.workspaceFolders ?? []).map((folder) => ({
    folder: folder.uri.fsPath,
    selector: excludes(folder).map((glob) => ({
      pattern: new vscode.RelativePattern(folder, glob),
    })),
  }));
  const isLeftOut = (path: string): boolean => {
    const found = known.get(path);
    if (found !== undefined) {
      return found;
    }
    const inside = patterns.filter(({ folder }) => path.startsWith(folder) && path !== folder);
    const document = { uri: vscode.Uri.file(path), languageId: "" } as vscode.TextDocument;
    const is =
      inside.length > 0 &&
      (inside.some(({ selector }) => vscode.languages.match(selector, document) > 0) ||
        isLeftOut(dirname(path)));
    known.set(path, is);
    return is;
  };
  return ({ fsPath }) => isLeftOut(fsPath);
}

function excludes(folder: vscode.WorkspaceFolder): string[] {
  const setting = vscode.workspace.getConfiguration("files", folder.uri).get("exclude", {});
  return Object.entries(setting).flatMap(([glob, is]) => (is === true ? [glob] : []));
}

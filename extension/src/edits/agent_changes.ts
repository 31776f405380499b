// The files that have changed in the newest answer, but not by the editor's own edits, shown as one
// comparison.
//
// A link in an answer may not run a command, so an entry in the status bar does, and the palette.

import { basename, isAbsolute } from "node:path";
import * as vscode from "vscode";
import type { ChangedFile, Part } from "../program/wire.ts";
import { committed } from "./git.ts";

/** The kind of data that names such files. */
export const CHANGES_MIME_TYPE = "application/vnd.vscodelm.changes+json";
/** The scheme of the texts from before. */
export const BEFORE = "vscodelm-before";
const SHOW_CHANGES = "vscodelm.showChanges";
/** How many files are opened and named whose earlier text isn't known. */
const MOST_NAMED = 5;

type Item = Pick<
  vscode.StatusBarItem,
  "text" | "tooltip" | "command" | "show" | "hide" | "dispose"
>;

interface Compared {
  /** Where the earlier text comes from. */
  before: "known" | "committed" | "unknown";
  /** The file, its text from before, and its text now. */
  uris: [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];
}

export class AgentChanges implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private files: readonly ChangedFile[] = [];
  /** Counts the answers, because the editor keeps a text by its address. */
  private answer = 0;

  constructor(private readonly item: Item) {
    item.command = SHOW_CHANGES;
  }

  /** Take a part of an answer, if it is about changes; return whether it is. */
  take(part: Part): boolean {
    const { type, mimeType, data } = part as { type: string; mimeType?: unknown; data?: unknown };
    if (type !== "data" || mimeType !== CHANGES_MIME_TYPE) {
      return false;
    }
    const files = filesIn(data);
    if (files.length > 0) {
      this.files = files;
      this.answer++;
      this.item.text = `$(diff-multiple) ${counted(files.length)}`;
      this.item.tooltip = "Changed by the agent, or while it worked: show the changes";
      this.item.show();
    }
    return true;
  }

  /**
   * Open the comparison of all files whose earlier texts are known: the texts from before the answer, or
   * else those of the last commit. Open the others themselves.
   */
  async show(): Promise<void> {
    this.item.hide();
    if (this.files.length === 0) {
      await vscode.window.showInformationMessage("No agent has changed a file by itself yet.");
      return;
    }
    const all = await Promise.all(this.files.map((file) => this.compared(file)));
    const resources = all.filter(({ before }) => before !== "unknown").map(({ uris }) => uris);
    if (resources.length > 0) {
      await vscode.commands.executeCommand("vscode.changes", "The agent's changes", resources);
    }
    const unknown = all.filter(({ before }) => before === "unknown");
    for (const { uris } of unknown.slice(0, MOST_NAMED)) {
      const [, , after] = uris;
      if (after !== undefined) {
        await vscode.commands.executeCommand("vscode.open", after, { preview: false });
      }
    }
    const words = [
      named(
        all.filter(({ before }) => before === "committed"),
        "Compared with the last commit",
      ),
      named(unknown, "The earlier text isn't known"),
    ];
    if (words.some((text) => text !== "")) {
      await vscode.window.showInformationMessage(words.filter((text) => text !== "").join(" "));
    }
  }

  provideTextDocumentContent({ path, query }: vscode.Uri): string {
    const found = this.files.find((file) => vscode.Uri.file(file.path).path === path);
    return (query === `${this.answer}` && found?.before) || "";
  }

  dispose(): void {
    this.item.dispose();
  }

  /** Return what the editor compares: a new file has nothing before, and a deleted one nothing after. */
  private async compared({ path, before }: ChangedFile): Promise<Compared> {
    const uri = vscode.Uri.file(path);
    const isThere = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    const after = isThere ? uri : undefined;
    if (before === undefined) {
      const earlier = await committed(uri);
      return { before: earlier ? "committed" : "unknown", uris: [uri, earlier, after] };
    }
    const earlier = uri.with({ scheme: BEFORE, query: `${this.answer}` });
    return { before: "known", uris: [uri, before === null ? undefined : earlier, after] };
  }
}

/** Return a sentence that names files; nothing if there are none. */
function named(files: readonly Compared[], beginning: string): string {
  const names = files.slice(0, MOST_NAMED).map(({ uris: [uri] }) => basename(uri.fsPath));
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : "";
  return files.length > 0 ? `${beginning}: ${names.join(", ")}${more}.` : "";
}

/** Return the files with absolute paths in such data; none if it can't be read. */
function filesIn(data: unknown): ChangedFile[] {
  try {
    const { files } = JSON.parse(Buffer.from(`${data}`, "base64").toString("utf8"));
    return (files as ChangedFile[]).filter(
      ({ path, before }) =>
        isAbsolute(path) && (before === undefined || before === null || typeof before === "string"),
    );
  } catch {
    return [];
  }
}

function counted(files: number): string {
  return files === 1 ? "1 file changed" : `${files} files changed`;
}

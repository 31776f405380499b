// The files that an agent has changed by itself in its newest answer, shown as one comparison.
//
// A link in an answer may not run a command, so an entry in the status bar does, and the palette.

import { basename, isAbsolute } from "node:path";
import * as vscode from "vscode";
import type { ChangedFile, Part } from "../program/wire.ts";

/** The kind of data that names such files. */
export const CHANGES_MIME_TYPE = "application/vnd.vscodelm.changes+json";
/** The scheme of the texts from before. */
export const BEFORE = "vscodelm-before";
export const SHOW_CHANGES = "vscodelm.showChanges";
/** How many files are named whose earlier text isn't known. */
const MOST_NAMED = 5;

type Item = Pick<
  vscode.StatusBarItem,
  "text" | "tooltip" | "command" | "show" | "hide" | "dispose"
>;

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
      this.item.tooltip = "Changed by the agent itself: show the changes";
      this.item.show();
    }
    return true;
  }

  /** Open the comparison of all files whose earlier texts are known, and name the others. */
  async show(): Promise<void> {
    this.item.hide();
    if (this.files.length === 0) {
      await vscode.window.showInformationMessage("No agent has changed a file by itself yet.");
      return;
    }
    const known = this.files.filter(({ before }) => before !== undefined);
    if (known.length > 0) {
      const resources = await Promise.all(known.map((file) => this.compared(file)));
      await vscode.commands.executeCommand("vscode.changes", "The agent's changes", resources);
    }
    const unknown = this.files.filter(({ before }) => before === undefined);
    if (unknown.length > 0) {
      const names = unknown.slice(0, MOST_NAMED).map(({ path }) => basename(path));
      const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : "";
      await vscode.window.showInformationMessage(
        `The agent has also changed ${names.join(", ")}${more}. The earlier text isn't known.`,
      );
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
  private async compared({ path, before }: ChangedFile): Promise<(vscode.Uri | undefined)[]> {
    const uri = vscode.Uri.file(path);
    const isThere = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    const earlier = uri.with({ scheme: BEFORE, query: `${this.answer}` });
    return [uri, before === null ? undefined : earlier, isThere ? uri : undefined];
  }
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

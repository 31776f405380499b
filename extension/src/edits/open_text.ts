// The text of a file, as the user sees it: that of the open buffer, or else that on the disk.

import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import type { ReadTextFileResult } from "../program/wire.ts";
import { happening } from "../waiting.ts";

/** The largest file that an agent reads this way. */
export const MOST_BYTES = 16 * 1024 * 1024;
/** Time for the editor to show a file anew that another program has changed. */
export const RELOAD_MS = 2_000;

/** Return the text of a file; null if there is none. Rejects with why it can't be read as text. */
export async function openText(path: unknown): Promise<ReadTextFileResult> {
  if (typeof path !== "string" || !isAbsolute(path)) {
    throw new Error("The path isn't absolute.");
  }
  const uri = vscode.Uri.file(path);
  // The editor's own tools edit the buffer, so it must have what the disk has.
  const found = await happening(
    vscode.workspace.onDidChangeTextDocument,
    () => settledText(uri),
    RELOAD_MS,
  );
  return found ?? { text: await onDisk(uri), isDirty: false };
}

/** Return the text; undefined if the editor has yet to take over a change of the file. */
async function settledText(uri: vscode.Uri): Promise<ReadTextFileResult | undefined> {
  const text = bufferOf(uri)?.isDirty ? null : await onDisk(uri);
  const buffer = bufferOf(uri); // it may have changed meanwhile
  if (buffer?.isDirty) {
    return { text: buffer.getText(), isDirty: true };
  }
  const isStale = buffer !== undefined && text !== null && !isSame(buffer, text);
  return isStale ? undefined : { text, isDirty: false };
}

function bufferOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(
    (one) => !one.isClosed && one.uri.scheme === "file" && one.uri.fsPath === uri.fsPath,
  );
}

/** Compare as the editor does: it has one kind of line end in a buffer, and no byte order mark. */
function isSame(buffer: vscode.TextDocument, text: string): boolean {
  const plain = (one: string) => one.replace(/\r\n?/g, "\n");
  return plain(buffer.getText()) === plain(text);
}

async function onDisk(uri: vscode.Uri): Promise<string | null> {
  let bytes: Uint8Array;
  try {
    const { size, type } = await vscode.workspace.fs.stat(uri);
    if (type & vscode.FileType.Directory) {
      throw new Error("It is a folder.");
    }
    if (size > MOST_BYTES) {
      throw new Error(`It has more than ${MOST_BYTES / 1024 / 1024} MB.`);
    }
    bytes = await vscode.workspace.fs.readFile(uri);
  } catch (error) {
    if ((error as { code?: unknown }).code === "FileNotFound") {
      return null;
    }
    throw error;
  }
  if (bytes.includes(0)) {
    throw new Error("It is binary.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("It isn't text in UTF-8.");
  }
}

// Settings of a folder that don't count, because only the user may make them. The log says so once for
// each. Their author may wonder, and any other user should know that somebody tried.

import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import { MAX_SETTINGS_BYTES } from "../limits.ts";
import { OWN_SETTINGS, SECTION } from "./own_settings.ts";

const NAMES = OWN_SETTINGS.map((key) => `${SECTION}.${key}`);
/** A string or a comment, as settings files have them. Neither must be closed, which keeps this linear. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const COLON = /\s*:/y;

/** Return the names of the user's own settings that the text of a settings file gives values. */
export function ownSettingsIn(text: string): string[] {
  const found = new Set<string>();
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    COLON.lastIndex = index + token.length;
    const name = nameOf(token);
    if (token.startsWith('"') && NAMES.includes(name) && COLON.test(text)) {
      found.add(name);
    }
  }
  return [...found];
}

/** Return the name in a token; letters may be written as `\u0070`. */
function nameOf(token: string): string {
  return token
    .slice(1, -1)
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Tells of settings that don't count, each once for as long as the window is open. */
export class IgnoredSettings {
  private readonly told = new Set<string>();

  constructor(private readonly log: Pick<vscode.LogOutputChannel, "warn">) {}

  /** Look through the settings of the window's folders, and of its workspace file. */
  async look(): Promise<void> {
    const { workspaceFolders = [], workspaceFile } = vscode.workspace;
    const files = workspaceFolders.map(({ uri }) =>
      vscode.Uri.joinPath(uri, ".vscode", "settings.json"),
    );
    if (workspaceFile !== undefined && workspaceFile.scheme !== "untitled") {
      files.push(workspaceFile);
    }
    for (const file of files) {
      await this.lookThrough(file);
    }
  }

  private async lookThrough(file: vscode.Uri): Promise<void> {
    try {
      const { size } = await vscode.workspace.fs.stat(file);
      if (size > MAX_SETTINGS_BYTES) {
        this.once(`${file.fsPath} is too large to be searched for ignored settings.`);
        return;
      }
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
      for (const name of ownSettingsIn(text)) {
        this.tell(name, file.fsPath);
      }
    } catch (error) {
      if ((error as { code?: unknown }).code !== "FileNotFound") {
        this.once(`${file.fsPath} can't be searched for ignored settings: ${messageOf(error)}`);
      }
    }
  }

  private tell(name: string, place: string): void {
    this.once(`\`${name}\` in ${place} is ignored: only the user's own settings may have it.`);
  }

  private once(line: string): void {
    if (!this.told.has(line)) {
      this.told.add(line);
      this.log.warn(line);
    }
  }
}

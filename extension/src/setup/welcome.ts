// Shows a person who has just installed the extension the way to their first answer, once. A notification
// would be missed: the chat of a new VS Code has the focus, and VS Code then shows none beside it.

import * as vscode from "vscode";
import { CHAT_EXTENSION } from "./chat_setup.ts";
import { SECTION } from "./own_settings.ts";

const WELCOMED = "welcomed";
/** The extension's id, and the walkthrough's in package.json. */
export const WALKTHROUGH = `${SECTION}.${SECTION}#start`;

/** Open the walkthrough unless it was opened before, or the chat and the program are there. */
export async function welcome(
  memory: vscode.Memento,
  hasProgram: () => Promise<boolean>,
): Promise<void> {
  if (memory.get(WELCOMED)) {
    return;
  }
  const isChatOn = vscode.extensions.getExtension(CHAT_EXTENSION) !== undefined;
  if (isChatOn && (await hasProgram())) {
    return;
  }
  await memory.update(WELCOMED, true);
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH);
}

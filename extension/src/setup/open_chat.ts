// Opens the editor's own chat with a model chosen in it.

import * as vscode from "vscode";
import { MODELS_LISTED_WITHIN_MS } from "../limits.ts";
import { happening } from "../waiting.ts";
import { SECTION } from "./own_settings.ts";

/** Return a model of ours as soon as the editor lists it, undefined if it doesn't for a while. */
export async function findModel(
  id: string,
  milliseconds = MODELS_LISTED_WITHIN_MS,
): Promise<vscode.LanguageModelChat | undefined> {
  const find = async () => (await vscode.lm.selectChatModels({ vendor: SECTION, id }))[0];
  return happening(vscode.lm.onDidChangeChatModels, find, milliseconds);
}

/** Begin a chat with a listed model, and send it a message if there is one. */
export async function openChat(id: string, message?: string): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.chat.newChat");
  await vscode.commands.executeCommand("workbench.action.chat.open", {
    query: message ?? "",
    isPartialQuery: message === undefined,
    modelSelector: { vendor: SECTION, id },
  });
}

/** The group without which the editor's chat asks for an account: models of any extension. */
export async function addModelGroup(): Promise<void> {
  const group = { vendor: SECTION, name: SECTION };
  try {
    await vscode.commands.executeCommand("lm.addLanguageModelsProviderGroup", group);
  } catch (error) {
    if (!(error as Error).message.includes("already exists")) {
      throw error;
    }
  }
}

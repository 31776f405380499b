// Setting and deleting the keys that agents need.

import * as vscode from "vscode";
import { whyNoVariable } from "../agents/naming.ts";
import type { Secrets } from "./secrets.ts";

/** Ask for the variable, unless it is `known`, and for the key; return whether it was set. */
export async function setSecret(secrets: Secrets, known?: string): Promise<boolean> {
  const name = known ?? (await askForName());
  if (!name) {
    return false;
  }
  const value = await vscode.window.showInputBox({
    title: name,
    prompt: "VS Code stores it in its secret storage. Only agents that use this variable get it.",
    password: true,
    ignoreFocusOut: true,
  });
  if (!value) {
    return false;
  }
  await secrets.set(name, value);
  return true;
}

export async function deleteSecret(secrets: Secrets): Promise<void> {
  const names = await secrets.names();
  if (names.length === 0) {
    void vscode.window.showInformationMessage("No secrets are stored.");
    return;
  }
  const name = await vscode.window.showQuickPick(names, { title: "Delete which secret?" });
  if (name) {
    await secrets.delete(name);
  }
}

async function askForName(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: "The environment variable that agents read the key from",
    placeHolder: "ANTHROPIC_API_KEY",
    ignoreFocusOut: true,
    validateInput: whyNoVariable,
  });
}

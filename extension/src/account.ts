// The editor's chat wants a GitHub account, unless its user has models of their own. Models of extensions
// count as such only when a group of them is in the user's list, which no declared API writes.

import * as vscode from "vscode";

export async function useWithoutAccount(): Promise<void> {
  const group = { vendor: "vscodelm", name: "vscodelm" };
  try {
    await vscode.commands.executeCommand("lm.addLanguageModelsProviderGroup", group);
  } catch (error) {
    void vscode.window.showErrorMessage(
      `This editor can't be told so: ${(error as Error).message}. Open "Chat: Manage Language Models" and add vscodelm there.`,
    );
    return;
  }
  void vscode.window.showInformationMessage(
    "The chat takes the models of vscodelm without an account now.",
  );
}

// The steps of the walkthrough that a person has reached: VS Code ticks them.

import * as vscode from "vscode";
import { SECTION } from "./own_settings.ts";

/** The steps, as package.json names their context keys. */
type WelcomeStep = "isInstalled" | "chatAnswers" | "hasAgent" | "hasAsked";

/** Have a step ticked. */
export async function reach(step: WelcomeStep): Promise<void> {
  await vscode.commands.executeCommand("setContext", `${SECTION}.${step}`, true);
}

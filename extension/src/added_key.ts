// The key of a model that is added: one that is kept already, one that is typed now, or none.

import * as vscode from "vscode";
import { ownVariable } from "./naming.ts";
import type { Secrets } from "./secrets.ts";

/** The key that a model may have. */
export interface KeyUse {
  /** The environment variable that it has by default. */
  variable: string;
  /** Whether the model can do without, because the agent has a login of its own. */
  hasLogin: boolean;
}

export interface ChosenKey {
  /** The variable that holds it; undefined where the agent's own login is used. */
  variable?: string;
  /** What was typed, which isn't kept yet. */
  typed?: string;
}

/** Ask which key a model is to have; undefined if the user left. Nothing is kept yet. */
export async function askForKey(
  use: KeyUse | undefined,
  id: string,
  secrets: Secrets,
): Promise<ChosenKey | undefined> {
  if (use === undefined) {
    return {};
  }
  const { variable, hasLogin } = use;
  const kept = await secrets.names();
  const isThere = kept.includes(variable) || Boolean(process.env[variable]);
  if (!isThere && !hasLogin) {
    return typeKey(variable);
  }
  const present: ChosenKey = isThere ? { variable } : {};
  const [known, another] = isThere
    ? [`The key in ${variable}`, "Another key..."]
    : ["The agent's own login", `A key (${variable})...`];
  const chosen = await vscode.window.showQuickPick([known, another], {
    title: "What does it sign in with?",
    ignoreFocusOut: true,
  });
  if (chosen === undefined) {
    return undefined;
  }
  return chosen === known ? present : typeKey(isThere ? ownVariable(variable, id, kept) : variable);
}

async function typeKey(variable: string): Promise<ChosenKey | undefined> {
  const typed = await vscode.window.showInputBox({
    title: `The key (${variable})`,
    prompt: "It is kept in the editor's secret storage. Leave it empty to set it later.",
    password: true,
    ignoreFocusOut: true,
  });
  if (typed === undefined) {
    return undefined;
  }
  return typed === "" ? { variable } : { variable, typed };
}

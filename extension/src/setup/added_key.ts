// The key of a model that is added: one that is kept already, one that is typed now, or none.

import * as vscode from "vscode";
import { ownVariable } from "../agents/naming.ts";
import type { Secrets } from "./secrets.ts";

/** The key that a model may have. */
export interface KeyUse {
  /** The environment variables in which it may be; a new key goes into the first. */
  variables: readonly string[];
  /** Whether the model can do without, because the agent has a login of its own. */
  hasLogin: boolean;
}

interface ChosenKey {
  /** The variable that holds it; undefined where the agent's own login is used. */
  variable?: string;
  /** The typed key, which isn't stored yet. */
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
  const { variables, hasLogin } = use;
  const [usual = ""] = variables;
  const kept = await secrets.names();
  const there =
    variables.find((name) => kept.includes(name)) ?? variables.find((name) => process.env[name]);
  if (there === undefined && !hasLogin) {
    return typeKey(usual);
  }
  const present: ChosenKey = there === undefined ? {} : { variable: there };
  const [known, another] =
    there === undefined
      ? ["The agent's own login", `A key (${usual})...`]
      : [`The key in ${there}`, "Another key..."];
  const chosen = await vscode.window.showQuickPick([known, another], {
    title: "How does the agent sign in?",
    ignoreFocusOut: true,
  });
  if (chosen === undefined) {
    return undefined;
  }
  if (chosen === known) {
    return present;
  }
  return typeKey(there === undefined ? usual : ownVariable(usual, id, kept));
}

async function typeKey(variable: string): Promise<ChosenKey | undefined> {
  const typed = await vscode.window.showInputBox({
    title: `The key (${variable})`,
    prompt: "VS Code stores it in its secret storage. Leave it empty to set it later.",
    password: true,
    ignoreFocusOut: true,
  });
  if (typed === undefined) {
    return undefined;
  }
  return typed === "" ? { variable } : { variable, typed };
}

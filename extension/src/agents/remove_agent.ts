// Removing a model: its entry in the settings, and its key if no other model has that.

import * as vscode from "vscode";
import { keysOf } from "../setup/key_names.ts";
import { defaultAgents, ownAgents, writeAgents } from "../setup/own_settings.ts";
import type { Secrets } from "../setup/secrets.ts";
import type { Present } from "./add_agent.ts";

interface Removable extends vscode.QuickPickItem {
  id: string;
}

const WITH_KEY = "Remove, Delete Its Key";
const KEEPING_KEY = "Remove, Keep Its Key";
const REMOVE = "Remove";

/** Return whether something was removed. `models` are those in the model picker. */
export async function removeAgent(secrets: Secrets, models: readonly Present[]): Promise<boolean> {
  const chosen = await vscode.window.showQuickPick(removable(models), {
    title: "Remove which model?",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen === undefined) {
    return false;
  }
  const { id, label } = chosen;
  const key = await ownKey(id, secrets);
  const answer = await vscode.window.showWarningMessage(
    `Remove "${label}" from the models?`,
    {
      modal: true,
      detail: [
        "Its chats are kept. Running answers are completed, and then its sessions are closed.",
        ...(key === undefined ? [] : [`No other model of the settings uses its key (${key}).`]),
      ].join("\n\n"),
    },
    ...(key === undefined ? [REMOVE] : [WITH_KEY, KEEPING_KEY]),
  );
  if (answer === undefined) {
    return false;
  }
  await writeAgents(without(id));
  if (key !== undefined && answer === WITH_KEY) {
    await secrets.delete(key);
  }
  void vscode.window.showInformationMessage(`"${label}" was removed from the models.`);
  return true;
}

/** Return what can be removed: entries of the settings, and the models that the program knows by itself. */
function removable(models: readonly Present[]): Removable[] {
  const own = present(ownAgents());
  const shown = new Map(models.map(({ id, name }) => [id, name]));
  return [...new Set([...own, ...shown.keys()])].map((id) => ({
    id,
    label: shown.get(id) ?? id,
    description: id,
    detail: whereIs(id, own),
  }));
}

function whereIs(id: string, own: readonly string[]): string {
  if (own.includes(id)) {
    const { remoteName } = vscode.env;
    return remoteName === undefined
      ? "In your user settings"
      : `In the settings of the remote machine (${remoteName})`;
  }
  return id in defaultAgents()
    ? "A default model: removing it hides it"
    : "In vscodelm's own file, which isn't changed: removing it hides it";
}

function present(agents: Record<string, unknown>): string[] {
  return Object.entries(agents).flatMap(([id, entry]) => (entry === null ? [] : [id]));
}

/** Return the user's entries without a model. `null` hides one that would be there all the same. */
function without(id: string): Record<string, unknown> {
  const { [id]: entry, ...others } = ownAgents();
  return entry === undefined || id in defaultAgents() ? { ...others, [id]: null } : others;
}

/** Return the key that is kept for this model alone. */
async function ownKey(id: string, secrets: Secrets): Promise<string | undefined> {
  const { [id]: entry, ...others } = { ...defaultAgents(), ...ownAgents() };
  const used = Object.values(others).flatMap(keysOf);
  const kept = await secrets.names();
  return keysOf(entry).find((name) => kept.includes(name) && !used.includes(name));
}

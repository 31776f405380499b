// The settings that only the user may make: those that run a program, allow something, or send something
// away. A folder can't make them, even a trusted one: an agent may write the folder's settings file.

import * as vscode from "vscode";
import { isObject } from "../json.ts";

export const SECTION = "vscodelm";

/** Each is of scope `machine` or `application` in package.json, where the editor honours scopes. */
export const OWN_SETTINGS = [
  "agents",
  "endpoints",
  "permissions",
  "permissionChoices",
  "tools.duplicates",
  "tools.exclude",
  "tools.include",
  "edits",
  "path",
  "arguments",
  "environment",
  "traceDirectory",
] as const;

export type OwnSetting = (typeof OWN_SETTINGS)[number];

/**
 * Return the user's own value of a setting, or else its default; values of folders don't count. In a
 * remote window it is the remote machine's. An object holds the default's entries, too, where the user
 * has none of that name.
 */
export function ownValue(key: OwnSetting): unknown {
  const found = vscode.workspace.getConfiguration(SECTION).inspect<unknown>(key);
  const { defaultValue, globalValue } = found ?? {};
  return isObject(defaultValue) && isObject(globalValue)
    ? { ...defaultValue, ...globalValue }
    : (globalValue ?? defaultValue);
}

/** Return the entries of `vscodelm.agents` that the user has written, without those of the default. */
export function ownAgents(): Record<string, unknown> {
  const { globalValue } = vscode.workspace.getConfiguration(SECTION).inspect("agents") ?? {};
  return isObject(globalValue) ? globalValue : {};
}

/** Return the entries that are there without anything written. */
export function defaultAgents(): Record<string, unknown> {
  const { defaultValue } = vscode.workspace.getConfiguration(SECTION).inspect("agents") ?? {};
  return isObject(defaultValue) ? defaultValue : {};
}

/** Write the user's own entries. The editor does it where they count: in a remote window, there. */
export async function writeAgents(agents: Record<string, unknown>): Promise<void> {
  const { Global } = vscode.ConfigurationTarget;
  await vscode.workspace.getConfiguration(SECTION).update("agents", agents, Global);
}

/** Show the user's agents in the settings. A remote window has its own page for those of the remote machine. */
export async function showAgents(): Promise<void> {
  const query = `${SECTION}.agents`;
  if (vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", query);
  } else {
    await vscode.commands.executeCommand("workbench.action.openRemoteSettings", { query });
  }
}

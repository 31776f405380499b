// The settings of the extension, as they stand at the moment.

import { homedir } from "node:os";
import * as vscode from "vscode";
import { type ConfiguredModels, readAgents } from "./agents.ts";
import type { Variables } from "./variables.ts";
import { fillIn } from "./variables.ts";

export const SECTION = "vscodelm";
/** Settings that the process is started with: a change of them takes a new process. */
export const PROCESS_SETTINGS = ["path", "arguments", "environment", "traceDirectory"] as const;

export interface ProcessSettings {
  path: string;
  arguments: string[];
  environment: Record<string, string>;
  traceDirectory: string;
}

/** Return where agents work: the first folder of the window, or else the user's home. */
export function workingFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file");
  return folder?.uri.fsPath ?? homedir();
}

export function configuredModels(): ConfiguredModels {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const defaults = {
    permissions: settings.get<string>("permissions", "ask"),
    thinking: settings.get<string>("thinking", "part"),
    tools: settings.get<object>("tools", {}),
  };
  return readAgents(settings.get<unknown>("agents"), defaults, variables());
}

export function processSettings(): ProcessSettings {
  const settings = vscode.workspace.getConfiguration(SECTION);
  return fillIn(
    {
      path: settings.get<string>("path", ""),
      arguments: settings.get<string[]>("arguments", []),
      environment: settings.get<Record<string, string>>("environment", {}),
      traceDirectory: settings.get<string>("traceDirectory", ""),
    },
    variables(),
  );
}

function variables(): Variables {
  return { workspaceFolder: workingFolder(), userHome: homedir(), env: process.env };
}

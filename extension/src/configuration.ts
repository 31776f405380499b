// The settings of the extension, as they stand at the moment.

import { homedir } from "node:os";
import * as vscode from "vscode";
import { type ConfiguredModels, readAgents } from "./agents/agents.ts";
import type { Variables } from "./agents/variables.ts";
import { fillIn } from "./agents/variables.ts";
import { Failure } from "./chat/failures.ts";
import { isObject } from "./json.ts";
import { type OwnSetting, ownValue, SECTION } from "./setup/own_settings.ts";

/** The settings that the process starts with: a change needs a new process. */
export interface ProcessSettings {
  path: string;
  arguments: string[];
  environment: Record<string, string>;
  traceDirectory: string;
  /** Endpoints by their ids; the program reads them, and says in its log what is wrong with one. */
  endpoints: object;
}

/** Return the folders of the window that are on a disk. */
export function windowFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

/** Return where agents work: the first folder of the window, or else the user's home. */
export function workingFolder(): string {
  return windowFolders()[0] ?? homedir();
}

/**
 * Return the models of the user's settings; `thinking` alone is a folder's to say, which only shows.
 * Throws `Failure` if they aren't models by their ids.
 */
export function configuredModels(): ConfiguredModels {
  const edits = ownValue("edits");
  const defaults = {
    permissions: ownValue("permissions") ?? "ask",
    permissionChoices: ownValue("permissionChoices") ?? ["ask", "read_only"],
    thinking: vscode.workspace.getConfiguration(SECTION).get<string>("thinking", "part"),
    tools: {
      duplicates: ownValue("tools.duplicates"),
      exclude: ownValue("tools.exclude"),
      include: ownValue("tools.include"),
    },
    ...(edits === "editor" || edits === "agent" ? { edits } : {}),
  };
  return readAgents(own("agents", {}, isObject), defaults, variables());
}

/** Return the command, arguments and environment of the process. Throws `Failure` for a value of another kind. */
export function processSettings(): ProcessSettings {
  return fillIn(
    {
      path: own("path", "", isText),
      arguments: own("arguments", [], isTexts),
      environment: own("environment", {}, isTextsByName),
      traceDirectory: own("traceDirectory", "", isText),
      endpoints: own("endpoints", {}, isObject),
    },
    variables(),
  );
}

/** Editors hand out values of settings as they are written, whatever package.json declares. */
function own<T>(key: OwnSetting, fallback: T, is: (value: unknown) => value is T): T {
  const value = ownValue(key) ?? fallback;
  if (!is(value)) {
    throw new Failure("NotFound", `The setting "${SECTION}.${key}" isn't ${EXPECTED[key]}.`);
  }
  return value;
}

const EXPECTED: Partial<Record<OwnSetting, string>> = {
  agents: "an object of models by their ids",
  path: "a string",
  arguments: "a list of strings",
  environment: "an object of strings by their names",
  traceDirectory: "a string",
  endpoints: "an object of endpoints by their ids",
};

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextsByName(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every(isText);
}

function variables(): Variables {
  return { workspaceFolder: workingFolder(), userHome: homedir(), env: process.env };
}

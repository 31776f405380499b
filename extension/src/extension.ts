// The entry points that VS Code calls. This module connects the others, and decides nothing.

import * as vscode from "vscode";
import { AgentAction } from "./chat/agent_action.ts";
import { AgentProgress } from "./chat/agent_progress.ts";
import { ALWAYS_ALLOW } from "./chat/always_allow.ts";
import { messageOf } from "./chat/failures.ts";
import { commandsOf, renew } from "./commands.ts";
import { processSettings } from "./configuration.ts";
import { BEFORE } from "./edits/agent_changes.ts";
import { reviewChanged } from "./mcp/choose.ts";
import type { Listed } from "./mcp/servers.ts";
import { makeParts, type Parts } from "./parts.ts";
import type { Server } from "./program/server.ts";
import { PERMISSION_TOOL, PROGRESS_TOOL } from "./program/wire.ts";
import { reporting } from "./reporting.ts";
import { IgnoredSettings } from "./setup/ignored.ts";
import { SECTION } from "./setup/own_settings.ts";
import { welcome } from "./setup/welcome.ts";

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const parts = makeParts(context);
  const { log, mcp, launcher } = parts;
  running = parts.server;
  const ignored = new IgnoredSettings(log);
  context.subscriptions.push(
    log,
    parts.installer,
    parts.models,
    parts.secrets,
    mcp,
    parts.changes,
    parts.usage,
    parts.watchedFiles,
    parts.doctor,
    parts.knowledge,
    ...registrations(context, parts),
    ...listeners(parts, ignored),
  );
  void reporting(log, "settings", () => ignored.look())();
  void mcp.foldersChanged();
  void reporting(log, "welcome", () => welcome(context.globalState, () => launcher.hasProgram()))();
}

/** VS Code waits for this: the process ends with the window. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
}

/** Register what the user or VS Code calls. */
function registrations(context: vscode.ExtensionContext, parts: Parts): vscode.Disposable[] {
  const { log, always, changes, provider, questions } = parts;
  return [
    vscode.workspace.registerTextDocumentContentProvider(BEFORE, changes),
    ...Object.entries(commandsOf(context, parts)).map(([name, run]) =>
      vscode.commands.registerCommand(`${SECTION}.${name}`, reporting(log, name, run)),
    ),
    vscode.commands.registerCommand(
      ALWAYS_ALLOW,
      reporting(log, "alwaysAllow", (number?: unknown) => always.choose(number)),
    ),
    vscode.lm.registerLanguageModelChatProvider(SECTION, provider),
    vscode.lm.registerTool(PERMISSION_TOOL, new AgentAction(questions, always)),
    vscode.lm.registerTool(PROGRESS_TOOL, new AgentProgress()),
  ];
}

/** Hand on what changes in the window: settings, keys, folders and MCP servers. */
function listeners(parts: Parts, ignored: IgnoredSettings): vscode.Disposable[] {
  const { log, mcp, models, secrets, server } = parts;
  let startedWith = processKey();
  return [
    vscode.workspace.onDidChangeConfiguration(
      reporting(log, "settings", async (change: vscode.ConfigurationChangeEvent) => {
        if (!change.affectsConfiguration(SECTION)) {
          return;
        }
        models.reconfigure();
        const before = startedWith;
        startedWith = processKey();
        await Promise.all([ignored.look(), startedWith !== before && renew(parts)]);
      }),
    ),
    mcp.onDidChange(() => server.mcpServersChanged()),
    mcp.onDidChangeEntries(
      reporting(log, "mcp", (changed: Listed[]) => reviewChanged(mcp, changed)),
    ),
    secrets.onDidChange(reporting(log, "secrets", () => renew(parts))),
    vscode.workspace.onDidChangeWorkspaceFolders(
      reporting(log, "folders", async () => {
        server.foldersChanged();
        await mcp.foldersChanged();
        await ignored.look();
      }),
    ),
  ];
}

/** Return a text that changes when the process must restart: of the user's values, not those of folders. */
function processKey(): string {
  try {
    return JSON.stringify(processSettings());
  } catch (error) {
    return messageOf(error); // the next start says it
  }
}

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
import type { Server } from "./program/server.ts";
import { PERMISSION_TOOL, PROGRESS_TOOL } from "./program/wire.ts";
import { reporting } from "./reporting.ts";
import { makeServices, type Services } from "./services.ts";
import { IgnoredSettings } from "./setup/ignored.ts";
import { SECTION } from "./setup/own_settings.ts";
import { welcome } from "./setup/welcome.ts";

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const services = makeServices(context);
  const { log, mcp, launcher } = services;
  running = services.server;
  const ignored = new IgnoredSettings(log);
  context.subscriptions.push(
    log,
    services.installer,
    services.models,
    services.secrets,
    mcp,
    services.changes,
    services.usage,
    services.watchedFiles,
    services.doctor,
    services.knowledge,
    ...registrations(context, services),
    ...listeners(services, ignored),
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
function registrations(context: vscode.ExtensionContext, services: Services): vscode.Disposable[] {
  const { log, always, changes, provider, questions } = services;
  return [
    vscode.workspace.registerTextDocumentContentProvider(BEFORE, changes),
    ...Object.entries(commandsOf(context, services)).map(([name, run]) =>
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
function listeners(services: Services, ignored: IgnoredSettings): vscode.Disposable[] {
  const { log, mcp, models, secrets, server } = services;
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
        await Promise.all([ignored.look(), startedWith !== before && renew(services)]);
      }),
    ),
    mcp.onDidChange(() => server.mcpServersChanged()),
    mcp.onDidChangeEntries(
      reporting(log, "mcp", (changed: Listed[]) => reviewChanged(mcp, changed)),
    ),
    secrets.onDidChange(reporting(log, "secrets", () => renew(services))),
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

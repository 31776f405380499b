// Makes the objects of the extension, and gives each the others that it needs.

import * as vscode from "vscode";
import { Logins } from "./agents/logins.ts";
import { AlwaysAllow } from "./chat/always_allow.ts";
import { capabilities } from "./chat/features.ts";
import { Models } from "./chat/models.ts";
import { Provider } from "./chat/provider.ts";
import { Questions } from "./chat/questions.ts";
import { Rules } from "./chat/rules.ts";
import { ShownUsage } from "./chat/usage.ts";
import { configuredModels, processSettings, windowFolders } from "./configuration.ts";
import { AgentChanges } from "./edits/agent_changes.ts";
import { openText } from "./edits/open_text.ts";
import { TurnWatches } from "./edits/watched_files.ts";
import { Elicitations } from "./elicitation/elicitations.ts";
import { KeptLines } from "./inspection/kept_lines.ts";
import { Knowledge } from "./inspection/knowledge.ts";
import { userFile } from "./mcp/profile.ts";
import { McpServers } from "./mcp/servers.ts";
import { Activities } from "./program/activities.ts";
import { OwnEnvironment } from "./program/install/environment.ts";
import { Installer } from "./program/install/installer.ts";
import { Launcher } from "./program/launcher.ts";
import { logLine } from "./program/log.ts";
import { Server } from "./program/server.ts";
import { MODELS_CHANGED, PROGRESS, WATCH_FILES } from "./program/wire.ts";
import { offerLog, reporting } from "./reporting.ts";
import { Doctor } from "./setup/doctor.ts";
import { Fixer } from "./setup/fixes.ts";
import { keptAs, nameKey } from "./setup/key_names.ts";
import { addModelGroup } from "./setup/open_chat.ts";
import { SECTION, showAgents } from "./setup/own_settings.ts";
import { setSecret } from "./setup/secret_commands.ts";
import { Secrets } from "./setup/secrets.ts";

type Base = ReturnType<typeof makeBase>;
type Chat = ReturnType<typeof makeChat>;

export interface Services extends Base, Chat {
  server: Server;
  doctor: Doctor;
  knowledge: Knowledge;
}

export function makeServices(context: vscode.ExtensionContext): Services {
  const base = makeBase(context);
  const { launcher, log, mcp, watchedFiles } = base;
  const server = new Server({
    clientInfo: { name: vscode.env.appName, version: vscode.version },
    capabilities: capabilities(),
    folders: windowFolders,
    mcpServers: () => mcp.handed,
    launch: async (mayAsk) => {
      await mcp.ready();
      return launcher.launch(mayAsk);
    },
    observer: {
      logged: (line) => logLine(log, line),
      complained: (what) => log.error(what),
      notified: (method, params, from) => {
        if (method === MODELS_CHANGED) {
          void chat.models.refresh();
        } else if (method === PROGRESS) {
          base.activities.tell(from, params);
        } else if (method === WATCH_FILES) {
          watchedFiles.watch(from, params);
        }
      },
      textRead: openText,
      filesChanged: (params, from) => watchedFiles.changed(from, params),
      elicited: (params, modelId, signal) => chat.elicitations.ask(params, modelId, signal),
      ended: (message) => {
        log.error(message);
        void offerLog(log, `${message} The next message starts it again.`);
      },
    },
  });
  const chat = makeChat(context, base, server);
  const doctor = new Doctor({
    models: chat.models,
    launch: () => launcher.launch(true),
    stats: () => server.stats(),
    mcpServers: () => mcp.statuses(),
    storage: context.globalStorageUri.fsPath,
    fixer: chat.fixer,
    log,
  });
  return { ...base, server, ...chat, doctor, knowledge: new Knowledge(server, log) };
}

/** Make the objects that need no running program. */
function makeBase(context: vscode.ExtensionContext) {
  const kept = new KeptLines();
  const log = kept.of(vscode.window.createOutputChannel("vscodelm", { log: true }));
  const secrets = new Secrets(context.secrets, context.globalState);
  const installer = new Installer(
    new OwnEnvironment({
      storage: context.globalStorageUri.fsPath,
      bundle: vscode.Uri.joinPath(context.extensionUri, "dist").fsPath,
    }),
    log,
  );
  const mcp = new McpServers(
    context.globalState,
    context.secrets,
    userFile(context.globalStorageUri.fsPath),
    log,
  );
  return {
    kept,
    log,
    secrets,
    installer,
    launcher: new Launcher(installer, secrets, log),
    mcp,
    activities: new Activities(log),
    watchedFiles: new TurnWatches(),
  };
}

/** Make the objects that chats use: the provider, its models, questions and shown changes. */
function makeChat(context: vscode.ExtensionContext, base: Base, server: Server) {
  const { log, secrets } = base;
  const models = makeModels(context, base, server);
  const nameOf = (id: string) => models.list().find((model) => model.id === id)?.name ?? id;
  const questions = new Questions();
  const rules = new Rules(context.globalState);
  const changes = new AgentChanges(changesItem());
  const usage = new ShownUsage(usageItem);
  const logins: Logins = new Logins(server, models, log, () => fixer);
  const fixer = new Fixer({
    logIn: (modelId, methodId) => logins.logIn(modelId, methodId),
    setKey: async (variable, modelId) => {
      const isSet = await setSecret(secrets, keptAs(modelId, variable));
      if (isSet) {
        await nameKey(modelId, variable);
      }
      return isSet;
    },
    environment: () => processSettings().environment,
    log,
  });
  const provider = new Provider(
    server,
    models,
    questions,
    rules,
    changes,
    usage,
    log,
    (model, error) => logins.failed(model, error),
    reporting(log, "addModels", async () => {
      await addModelGroup();
      await vscode.commands.executeCommand(`${SECTION}.addAgent`);
    }),
  );
  const always = new AlwaysAllow(questions, rules);
  const elicitations = new Elicitations(nameOf, log);
  return { models, questions, always, changes, usage, logins, fixer, provider, elicitations };
}

function makeModels(context: vscode.ExtensionContext, { log }: Base, server: Server): Models {
  return new Models(
    context.globalState,
    configuredModels,
    (own) => server.models(own),
    log,
    reporting(log, "agents", async (words: string) => {
      const open = "Open Settings";
      if ((await vscode.window.showWarningMessage(words, open)) === open) {
        await showAgents();
      }
    }),
  );
}

function changesItem(): vscode.StatusBarItem {
  const side = vscode.StatusBarAlignment.Right;
  const item = vscode.window.createStatusBarItem("vscodelm.changes", side);
  item.name = "vscodelm: changes";
  return item;
}

function usageItem(): vscode.LanguageStatusItem {
  const item = vscode.languages.createLanguageStatusItem("vscodelm.usage", "*");
  item.name = "vscodelm: tokens and costs";
  item.command = { title: "Statistics", command: `${SECTION}.showStatistics` };
  return item;
}

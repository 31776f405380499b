// The entry points that VS Code calls. This module connects the others, and decides nothing.

import * as vscode from "vscode";
import { addAgent } from "./agents/add_agent.ts";
import { insertAgentCommand } from "./agents/agent_commands.ts";
import { continueSession } from "./agents/continue_session.ts";
import { Logins } from "./agents/logins.ts";
import { addFromRegistry } from "./agents/registry.ts";
import { removeAgent } from "./agents/remove_agent.ts";
import { AgentAction } from "./chat/agent_action.ts";
import { AgentProgress } from "./chat/agent_progress.ts";
import { ALWAYS_ALLOW, AlwaysAllow } from "./chat/always_allow.ts";
import { messageOf } from "./chat/failures.ts";
import { capabilities } from "./chat/features.ts";
import { Models } from "./chat/models.ts";
import { Provider } from "./chat/provider.ts";
import { Questions } from "./chat/questions.ts";
import { Rules } from "./chat/rules.ts";
import { ShownUsage } from "./chat/usage.ts";
import {
  configuredModels,
  processSettings,
  windowFolders,
  workingFolder,
} from "./configuration.ts";
import { AgentChanges, BEFORE } from "./edits/agent_changes.ts";
import { openText } from "./edits/open_text.ts";
import { WatchedFiles } from "./edits/watched_files.ts";
import { Elicitations } from "./elicitation/elicitations.ts";
import { secretsIn } from "./inspection/hidden.ts";
import { KeptLines } from "./inspection/kept_lines.ts";
import { Knowledge } from "./inspection/knowledge.ts";
import { reportProblem } from "./inspection/problem.ts";
import { chooseMcpServers, reviewChanged } from "./mcp/choose.ts";
import { userFile } from "./mcp/profile.ts";
import { type Listed, McpServers } from "./mcp/servers.ts";
import { Activities } from "./program/activities.ts";
import { findOnPath } from "./program/executable.ts";
import { OwnEnvironment } from "./program/install/environment.ts";
import { Installer } from "./program/install/installer.ts";
import { launchOf } from "./program/launch.ts";
import { logLevel, logLine } from "./program/log.ts";
import { Server } from "./program/server.ts";
import { statisticsLines } from "./program/statistics.ts";
import {
  MODELS_CHANGED,
  PERMISSION_TOOL,
  PROGRESS,
  PROGRESS_TOOL,
  WATCH_FILES,
} from "./program/wire.ts";
import { offerLog, reporting } from "./reporting.ts";
import { setUpChat } from "./setup/chat_setup.ts";
import { Doctor } from "./setup/doctor.ts";
import { Fixer } from "./setup/fixes.ts";
import { IgnoredSettings } from "./setup/ignored.ts";
import { keptAs, nameKey } from "./setup/key_names.ts";
import { MENU, showMenu } from "./setup/menu.ts";
import { addModelGroup } from "./setup/open_chat.ts";
import { SECTION, showAgents } from "./setup/own_settings.ts";
import { deleteSecret, setSecret } from "./setup/secret_commands.ts";
import { Secrets } from "./setup/secrets.ts";
import { welcome } from "./setup/welcome.ts";

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
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
  const launchWith = (keys: Record<string, string>, mayAsk: boolean) =>
    launchOf(
      {
        settings: processSettings(),
        programs: {
          onPath: () => findOnPath("vscodelm"),
          own: () => installer.program(),
          install: () => installer.ask(),
        },
        secrets: keys,
        environment: process.env,
        logLevel: logLevel(log.logLevel),
        folder: workingFolder(),
      },
      mayAsk,
    );
  const launch = async (mayAsk: boolean) => launchWith(await secrets.environment(), mayAsk);
  const hasProgram = () =>
    launch(false).then(
      () => true,
      () => false,
    );
  const activities = new Activities(log);
  const mcp = new McpServers(
    context.globalState,
    context.secrets,
    userFile(context.globalStorageUri.fsPath),
    log,
  );
  const watchedFiles = new WatchedFiles();
  const server = new Server({
    clientInfo: { name: vscode.env.appName, version: vscode.version },
    capabilities: capabilities(),
    folders: windowFolders,
    mcpServers: () => mcp.handed,
    launch: async (mayAsk) => {
      await mcp.ready();
      return launch(mayAsk);
    },
    observer: {
      logged: (line) => logLine(log, line),
      complained: (what) => log.error(what),
      notified: (method, params, from) => {
        if (method === MODELS_CHANGED) {
          void models.refresh();
        } else if (method === PROGRESS) {
          activities.tell(from, params);
        } else if (method === WATCH_FILES) {
          watchedFiles.watch(from, params);
        }
      },
      textRead: openText,
      filesChanged: (params, from) => watchedFiles.changed(from, params),
      elicited: (params, modelId, signal) => elicitations.ask(params, modelId, signal),
      ended: (message) => {
        log.error(message);
        void offerLog(log, `${message} The next message starts it again.`);
      },
    },
  });
  running = server;
  const models = new Models(
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
  const nameOf = (modelId: string) => models.list().find(({ id }) => id === modelId)?.name;
  const elicitations = new Elicitations((modelId) => nameOf(modelId) ?? modelId, log);
  const questions = new Questions();
  const rules = new Rules(context.globalState);
  const always = new AlwaysAllow(questions, rules);
  const changesItem = vscode.window.createStatusBarItem(
    "vscodelm.changes",
    vscode.StatusBarAlignment.Right,
  );
  changesItem.name = "vscodelm: changes";
  const changes = new AgentChanges(changesItem);
  const usage = new ShownUsage(() => {
    const item = vscode.languages.createLanguageStatusItem("vscodelm.usage", "*");
    item.name = "vscodelm: tokens and costs";
    item.command = { title: "Statistics", command: `${SECTION}.showStatistics` };
    return item;
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

  const restart = async () => {
    await server.stop();
    log.info("vscodelm was stopped; it starts again now.");
    await models.refresh();
  };
  /** A change counts for the next message; it doesn't cut off running answers. */
  const renew = async () => {
    server.renew();
    log.info("vscodelm starts anew for the next message; running answers go on.");
    await models.refreshAnew();
  };
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
  const doctor = new Doctor({
    models,
    launch: () => launch(true),
    stats: () => server.stats(),
    mcpServers: () => mcp.statuses(),
    storage: context.globalStorageUri.fsPath,
    fixer,
    log,
  });
  const knowledge = new Knowledge(server, log);
  const commands: Record<string, () => unknown> = {
    showKnowledge: () => knowledge.show(),
    reportProblem: () =>
      reportProblem({
        versions: async () => ({
          "the extension": String(context.extension?.packageJSON?.version ?? "unknown"),
          vscodelm: await server.version().catch(messageOf),
          [vscode.env.appName]: vscode.version,
          system: `${process.platform} ${process.arch}, Node.js ${process.version}`,
          "remote window": vscode.env.remoteName ?? "no",
        }),
        inspect: () => server.inspect(false),
        models: () => models.list().map(({ id }) => id),
        examine: (id) => doctor.reportOn(id),
        lines: () => kept.lines,
        secrets: async () => [
          ...Object.values(await secrets.environment()),
          ...secretsIn(processSettings().environment, "variable"),
          ...models.definitions.flatMap((agent) => secretsIn(agent)),
        ],
      }),
    addAgent: () =>
      addAgent(secrets, models.list(), async () => {
        const id = await addFromRegistry(() => launchWith({}, true)); // fetching needs no keys
        if (id !== undefined) {
          await renew(); // it reads its models when it starts
        }
        return id;
      }),
    removeAgent: async () => (await removeAgent(secrets, models.list())) && renew(),
    useWithoutAccount: () =>
      setUpChat({
        findProgram: () => launch(true),
        onDidAnswerChat: provider.onDidAnswerChat,
      }),
    restart,
    showLog: () => log.show(),
    showStatistics: async () => {
      statisticsLines(await server.stats()).forEach((line) => void log.info(line));
      log.show();
    },
    insertAgentCommand: () => insertAgentCommand(server),
    continueSession: () => continueSession(server, models, fixer),
    logOut: () => logins.logOut(),
    showChanges: () => changes.show(),
    runDoctor: () => doctor.run(),
    install: async () => {
      if (await installer.install()) {
        await renew();
      }
    },
    setSecret: () => setSecret(secrets),
    deleteSecret: () => deleteSecret(secrets),
    managePermissions: () => always.manage(),
    chooseMcpServers: () => chooseMcpServers(mcp),
    [MENU]: () => showMenu(context.extension.packageJSON.contributes.commands),
  };

  const ignored = new IgnoredSettings(log);
  let startedWith = processKey();
  context.subscriptions.push(
    log,
    installer,
    models,
    secrets,
    mcp,
    changes,
    usage,
    watchedFiles,
    vscode.workspace.registerTextDocumentContentProvider(BEFORE, changes),
    doctor,
    knowledge,
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`${SECTION}.${name}`, reporting(log, name, run)),
    ),
    vscode.commands.registerCommand(
      ALWAYS_ALLOW,
      reporting(log, "alwaysAllow", (number?: unknown) => always.choose(number)),
    ),
    vscode.lm.registerLanguageModelChatProvider(SECTION, provider),
    vscode.lm.registerTool(PERMISSION_TOOL, new AgentAction(questions, always)),
    vscode.lm.registerTool(PROGRESS_TOOL, new AgentProgress()),
    vscode.workspace.onDidChangeConfiguration(
      reporting(log, "settings", async (change: vscode.ConfigurationChangeEvent) => {
        if (!change.affectsConfiguration(SECTION)) {
          return;
        }
        models.reconfigure();
        const before = startedWith;
        startedWith = processKey();
        await Promise.all([ignored.look(), startedWith !== before && renew()]);
      }),
    ),
    mcp.onDidChange(() => server.mcpServersChanged()),
    mcp.onDidChangeEntries(
      reporting(log, "mcp", (changed: Listed[]) => reviewChanged(mcp, changed)),
    ),
    secrets.onDidChange(reporting(log, "secrets", renew)),
    vscode.workspace.onDidChangeWorkspaceFolders(
      reporting(log, "folders", async () => {
        server.foldersChanged();
        await mcp.foldersChanged();
        await ignored.look();
      }),
    ),
  );
  void reporting(log, "settings", () => ignored.look())();
  void mcp.foldersChanged();
  void reporting(log, "welcome", () => welcome(context.globalState, hasProgram))();
}

/** VS Code waits for this: the process ends with the window. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
}

/** Return a text that changes when the process must restart: of the user's values, not those of folders. */
function processKey(): string {
  try {
    return JSON.stringify(processSettings());
  } catch (error) {
    return messageOf(error); // the next start says it
  }
}

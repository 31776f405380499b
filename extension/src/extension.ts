// What VS Code calls: here everything is put together, and nothing is decided.

import * as vscode from "vscode";
import { Activities } from "./activities.ts";
import { addAgent } from "./add_agent.ts";
import { AgentAction } from "./agent_action.ts";
import { ALWAYS_ALLOW, AlwaysAllow } from "./always_allow.ts";
import { setUpChat } from "./chat_setup.ts";
import { configuredModels, processSettings, workingFolder } from "./configuration.ts";
import { Doctor } from "./doctor.ts";
import { findOnPath } from "./executable.ts";
import { messageOf } from "./failures.ts";
import { capabilities } from "./features.ts";
import { Fixer } from "./fixes.ts";
import { IgnoredSettings } from "./ignored.ts";
import { OwnEnvironment } from "./install/environment.ts";
import { Installer } from "./install/installer.ts";
import { keptAs, nameKey } from "./key_names.ts";
import { launchOf } from "./launch.ts";
import { logLevel, logLine } from "./log.ts";
import { Logins } from "./logins.ts";
import { Models } from "./models.ts";
import { SECTION } from "./own_settings.ts";
import { Provider } from "./provider.ts";
import { Questions } from "./questions.ts";
import { addFromRegistry } from "./registry.ts";
import { removeAgent } from "./remove_agent.ts";
import { offerLog, reporting } from "./reporting.ts";
import { Rules } from "./rules.ts";
import { deleteSecret, setSecret } from "./secret_commands.ts";
import { Secrets } from "./secrets.ts";
import { Server } from "./server.ts";
import { statisticsLines } from "./statistics.ts";
import { Turns } from "./turns.ts";
import { welcome } from "./welcome.ts";
import { MODELS_CHANGED, PERMISSION_TOOL, PROGRESS } from "./wire.ts";

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("vscodelm", { log: true });
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
  const server = new Server({
    clientInfo: { name: vscode.env.appName, version: vscode.version },
    capabilities: capabilities(),
    launch,
    observer: {
      logged: (line) => logLine(log, line),
      complained: (what) => log.error(what),
      notified: (method, params, from) => {
        if (method === MODELS_CHANGED) {
          void models.refresh();
        } else if (method === PROGRESS) {
          activities.tell(from, params);
        }
      },
      ended: (message) => {
        log.error(message);
        void offerLog(log, `${message} The next message starts it again.`);
      },
    },
  });
  running = server;
  const models = new Models(context.globalState, configuredModels, () => server.models(), log);
  const item = vscode.window.createStatusBarItem("vscodelm.turns", vscode.StatusBarAlignment.Right);
  item.name = "vscodelm";
  const turns = new Turns(item);
  const questions = new Questions();
  const rules = new Rules(context.globalState);
  const always = new AlwaysAllow(questions, rules);
  const provider = new Provider(server, models, turns, questions, rules, log, (model, error) =>
    logins.failed(model, error),
  );

  const restart = async () => {
    await server.stop();
    log.info("vscodelm was stopped; it starts again now.");
    await models.refresh();
  };
  /** What has changed counts for the next message; answers that run now aren't cut off. */
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
    storage: context.globalStorageUri.fsPath,
    fixer,
    log,
  });
  const commands: Record<string, () => unknown> = {
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
    logOut: () => logins.logOut(),
    runDoctor: () => doctor.run(),
    install: async () => {
      if (await installer.install()) {
        await renew();
      }
    },
    setSecret: () => setSecret(secrets),
    deleteSecret: () => deleteSecret(secrets),
    managePermissions: () => always.manage(),
  };

  const ignored = new IgnoredSettings(log);
  let startedWith = processKey();
  context.subscriptions.push(
    log,
    installer,
    models,
    secrets,
    turns,
    doctor,
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`${SECTION}.${name}`, reporting(log, name, run)),
    ),
    vscode.commands.registerCommand(
      ALWAYS_ALLOW,
      reporting(log, "alwaysAllow", (number?: unknown) => always.choose(number)),
    ),
    vscode.lm.registerLanguageModelChatProvider(SECTION, provider),
    vscode.lm.registerTool(PERMISSION_TOOL, new AgentAction(questions, always)),
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
    secrets.onDidChange(reporting(log, "secrets", renew)),
    vscode.workspace.onDidChangeWorkspaceFolders(reporting(log, "folders", () => ignored.look())),
  );
  void reporting(log, "settings", () => ignored.look())();
  void reporting(log, "welcome", () => welcome(context.globalState, hasProgram))();
}

/** VS Code waits for this: the process ends with the window. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
}

/** Return what changes when the process must start anew: the user's values, not those of folders. */
function processKey(): string {
  try {
    return JSON.stringify(processSettings());
  } catch (error) {
    return messageOf(error); // the next start says it
  }
}

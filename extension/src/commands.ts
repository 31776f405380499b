// The commands of the extension, by the names that package.json gives them.

import * as vscode from "vscode";
import { addAgent } from "./agents/add_agent.ts";
import { insertAgentCommand } from "./agents/agent_commands.ts";
import { continueSession } from "./agents/continue_session.ts";
import { addFromRegistry } from "./agents/registry.ts";
import { removeAgent } from "./agents/remove_agent.ts";
import { messageOf } from "./chat/failures.ts";
import { processSettings } from "./configuration.ts";
import { secretsIn } from "./inspection/hidden.ts";
import { reportProblem } from "./inspection/problem.ts";
import { chooseMcpServers } from "./mcp/choose.ts";
import { statisticsLines } from "./program/statistics.ts";
import type { Services } from "./services.ts";
import { setUpChat } from "./setup/chat_setup.ts";
import { MENU, showMenu } from "./setup/menu.ts";
import { deleteSecret, setSecret } from "./setup/secret_commands.ts";

/** Let the next message start the program anew; running answers go on. */
export async function renew({ server, models, log }: Services): Promise<void> {
  server.renew();
  log.info("vscodelm starts anew for the next message; running answers go on.");
  await models.refreshAnew();
}

export function commandsOf(
  context: vscode.ExtensionContext,
  services: Services,
): Record<string, () => unknown> {
  const { server, models, secrets, log, launcher, installer, fixer } = services;
  return {
    showKnowledge: () => services.knowledge.show(),
    reportProblem: () => report(context, services),
    addAgent: () => add(services),
    removeAgent: async () => (await removeAgent(secrets, models.list())) && renew(services),
    useWithoutAccount: () =>
      setUpChat({
        findProgram: () => launcher.launch(true),
        onDidAnswerChat: services.provider.onDidAnswerChat,
      }),
    restart: async () => {
      await server.stop();
      log.info("vscodelm was stopped; it starts again now.");
      await models.refresh();
    },
    showLog: () => log.show(),
    showStatistics: async () => {
      statisticsLines(await server.stats()).forEach((line) => void log.info(line));
      log.show();
    },
    insertAgentCommand: () => insertAgentCommand(server),
    continueSession: () => continueSession(server, models, fixer),
    logOut: () => services.logins.logOut(),
    showChanges: () => services.changes.show(),
    runDoctor: () => services.doctor.run(),
    install: async () => {
      if (await installer.install()) {
        await renew(services);
      }
    },
    setSecret: () => setSecret(secrets),
    deleteSecret: () => deleteSecret(secrets),
    managePermissions: () => services.always.manage(),
    chooseMcpServers: () => chooseMcpServers(services.mcp),
    [MENU]: () => showMenu(context.extension.packageJSON.contributes.commands),
  };
}

function add(services: Services): Promise<void> {
  return addAgent(services.secrets, services.models.list(), async () => {
    const fetch = () => services.launcher.launchWith({}, true); // it needs no keys
    const id = await addFromRegistry(fetch);
    if (id !== undefined) {
      await renew(services); // the program reads its models when it starts
    }
    return id;
  });
}

function report(context: vscode.ExtensionContext, services: Services): Promise<void> {
  const { server, models, secrets } = services;
  return reportProblem({
    versions: async () => ({
      "the extension": String(context.extension?.packageJSON?.version ?? "unknown"),
      vscodelm: await server.version().catch(messageOf),
      [vscode.env.appName]: vscode.version,
      system: `${process.platform} ${process.arch}, Node.js ${process.version}`,
      "remote window": vscode.env.remoteName ?? "no",
    }),
    inspect: () => server.inspect(false),
    models: () => models.list().map(({ id }) => id),
    examine: (id) => services.doctor.reportOn(id),
    lines: () => services.kept.lines,
    secrets: async () => [
      ...Object.values(await secrets.environment()),
      ...secretsIn(processSettings().environment, "variable"),
      ...models.definitions.flatMap((agent) => secretsIn(agent)),
    ],
  });
}

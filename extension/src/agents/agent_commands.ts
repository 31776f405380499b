// The slash commands of agents. VS Code completes no commands of a model, so they are in a list of ours.

import * as vscode from "vscode";
import type { SessionUsage, Stats } from "../program/wire.ts";

type WithCommands = SessionUsage & Required<Pick<SessionUsage, "commands">>;

/** Let the person choose a command of an agent, and put it into the chat's input. */
export async function insertAgentCommand(server: { stats(): Promise<Stats> }): Promise<void> {
  const { agentSessions = [] } = await server.stats();
  const agents = newestOfEach(agentSessions);
  if (agents.length === 0) {
    vscode.window.showInformationMessage(
      "No agent has named its commands yet. Most agents do so when a chat with them begins: send a message first.",
    );
    return;
  }
  const items = agents.flatMap(({ agent, commands }) =>
    commands.map(({ name, description, hint }) => ({
      label: `/${name}`,
      description: [agents.length > 1 ? agent : "", hint].filter(Boolean).join(" · "),
      detail: description,
    })),
  );
  const newest = agentSessions.at(-1)?.agent;
  const isSilent = agents.every(({ agent }) => agent !== newest);
  const silent = isSilent ? `${newest}, which you used last, has named no commands. ` : "";
  const chosen = await vscode.window.showQuickPick(items, {
    title: `Commands of ${agents.map(({ agent }) => agent).join(", ")}`,
    placeHolder: `${silent}The command is put into the chat's input. Complete it there.`,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand("workbench.action.chat.open", {
      query: `${chosen.label} `,
      isPartialQuery: true,
    });
  }
}

/** Return the newest session of each agent that has commands, the newest first. */
function newestOfEach(sessions: SessionUsage[]): WithCommands[] {
  const found = new Map<string, WithCommands>();
  for (const session of sessions.toReversed().filter(hasCommands)) {
    if (!found.has(session.agent)) {
      found.set(session.agent, session);
    }
  }
  return [...found.values()];
}

function hasCommands(session: SessionUsage): session is WithCommands {
  return (session.commands?.length ?? 0) > 0;
}

// The slash commands of agents. VS Code completes no commands of a model, so they are in a list of ours.

import * as vscode from "vscode";
import type { SessionUsage, Stats } from "../program/wire.ts";

/** Let the person choose a command of the newest agent, and put it into the chat's input. */
export async function insertAgentCommand(server: { stats(): Promise<Stats> }): Promise<void> {
  const { agentSessions = [] } = await server.stats();
  const session = agentSessions.findLast(hasCommands);
  if (session === undefined) {
    vscode.window.showInformationMessage(
      "No agent has named its commands yet. Most agents do so when a chat with them begins: send a message first.",
    );
    return;
  }
  const items = session.commands.map(({ name, description, hint }) => ({
    label: `/${name}`,
    description: hint,
    detail: description,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: `Commands of ${session.agent}`,
    placeHolder: "The command is put into the chat's input. Complete it there.",
    matchOnDetail: true,
  });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand("workbench.action.chat.open", {
      query: `${chosen.label} `,
      isPartialQuery: true,
    });
  }
}

function hasCommands(
  session: SessionUsage,
): session is SessionUsage & Required<Pick<SessionUsage, "commands">> {
  return (session.commands?.length ?? 0) > 0;
}

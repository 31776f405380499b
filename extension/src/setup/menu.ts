// All commands in one list: the gear beside our models in the editor's page of models opens it.
//
// package.json names this command as `managementCommand`. VS Code wants to replace that by `configuration`, a
// schema of settings for a group of models. It then asks for the models of each group, and a key would be
// in VS Code's file of groups. Our models are in the settings, with their keys in the secret storage.

import * as vscode from "vscode";
import { SECTION } from "./own_settings.ts";

/** A command, as package.json lists it. */
interface ListedCommand {
  command: string;
  title: string;
}

export const MENU = "manage";

/** Headings, each with the names of its commands in order. */
export const GROUPS: readonly (readonly [heading: string, names: readonly string[]])[] = [
  [
    "Agents",
    [
      "addAgent",
      "removeAgent",
      "logOut",
      "insertAgentCommand",
      "continueSession",
      "chooseMcpServers",
      "showChanges",
    ],
  ],
  ["Keys and Permissions", ["setSecret", "deleteSecret", "managePermissions"]],
  ["Help", ["runDoctor", "showKnowledge", "reportProblem", "showLog", "showStatistics", "restart"]],
  ["Setup", ["useWithoutAccount", "install"]],
];

/** Let the user choose a command, and run it. A command of no group stands at the end. */
export async function showMenu(listed: readonly ListedCommand[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(itemsOf(listed), {
    title: "Manage vscodelm",
    placeHolder: "Choose what to do",
  });
  if (chosen?.command !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

interface Item extends vscode.QuickPickItem {
  command?: string;
}

function itemsOf(listed: readonly ListedCommand[]): Item[] {
  const titles = new Map(listed.map(({ command, title }) => [command, title]));
  const grouped = GROUPS.map(([heading, names]) => [heading, names.map(commandOf)] as const);
  const known = new Set([commandOf(MENU), ...grouped.flatMap(([, commands]) => commands)]);
  const others = [...titles.keys()].filter((command) => !known.has(command));
  return [...grouped, ["More", others] as const].flatMap(([heading, commands]) => {
    const items = commands.flatMap((command) => {
      const label = titles.get(command);
      return label === undefined ? [] : [{ label, command }];
    });
    const separator = { label: heading, kind: vscode.QuickPickItemKind.Separator };
    return items.length > 0 ? [separator, ...items] : [];
  });
}

function commandOf(name: string): string {
  return `${SECTION}.${name}`;
}

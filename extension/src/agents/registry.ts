// The registry of ACP agents, as vscodelm reads it: its agents, and how one becomes a model.

import * as vscode from "vscode";
import { runProgram } from "../program/command.ts";
import type { Launch } from "../program/start.ts";

/** An agent of the registry, as `vscodelm agents --json` prints it. */
interface Offer {
  id: string;
  name: string;
  description?: string;
  readiness?: string;
  /** Whether it is known to act without asking its user. */
  neverAsks?: boolean;
}

/** Read the output of `vscodelm agents --json`; throws the error that it reports. */
export function readOffers(json: string): Offer[] {
  const told = JSON.parse(json) as { registry?: { agents?: Offer[] } | null; problem?: string };
  if (!told.registry) {
    throw new Error(told.problem ?? "The registry can't be read.");
  }
  return told.registry.agents ?? [];
}

/** Let the user choose an agent of the registry; return its id when it is among vscodelm's models. */
export async function addFromRegistry(launch: () => Promise<Launch>): Promise<string | undefined> {
  const launched = await launch();
  const offers = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Fetching the registry's index" },
    async () => readOffers(await runProgram(launched, ["agents", "--refresh", "--json"])),
  );
  const chosen = await vscode.window.showQuickPick(
    offers.map(({ id, name, description, readiness, neverAsks }) => ({
      id,
      readiness,
      neverAsks,
      label: name,
      description: [readiness, neverAsks && UNASKED].filter(Boolean).join(", "),
      detail: description ?? "",
    })),
    { title: "Agents of the registry", matchOnDetail: true },
  );
  if (chosen === undefined) {
    return undefined;
  }
  await runProgram(launched, ["agents", "add", chosen.id, "--write"]);
  if (chosen.neverAsks) {
    void vscode.window.showWarningMessage(
      `${chosen.label} ${UNASKED}: it changes files and runs commands, whatever vscodelm.permissions says.`,
    );
  }
  if (chosen.readiness === NOT_INSTALLED) {
    // It shows each package with its source, and asks for consent.
    const { command, env, cwd } = launched;
    const shellArgs = [...launched.args, "agents", "install", chosen.id];
    const name = `Install ${chosen.label}`;
    const isTransient = true; // it isn't to be done again in the next window
    vscode.window
      .createTerminal({ name, shellPath: command, shellArgs, env, cwd, isTransient })
      .show();
  }
  return chosen.id;
}

const NOT_INSTALLED = "not installed";
const UNASKED = "acts without asking";

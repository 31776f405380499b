// Sessions that agents keep, those of their terminals included: a person chooses one, and a chat goes on in it.

import * as vscode from "vscode";
import { fixesOf, messageOf } from "../chat/failures.ts";
import type { Models, PickableModel } from "../chat/models.ts";
import { wordsWithoutIcons } from "../elicitation/words.ts";
import type { Server } from "../program/server.ts";
import type { ListedSession, SessionsParams } from "../program/wire.ts";
import type { Fixer } from "../setup/fixes.ts";
import { openChat } from "../setup/open_chat.ts";
import { SECTION } from "../setup/own_settings.ts";
import { kindOf } from "./agents.ts";

const UNTITLED = "Untitled session";
const AFTER_FIX = {
  words: "Choose the agent's session again.",
  button: "Choose a Session",
  run: () => vscode.commands.executeCommand(`${SECTION}.continueSession`),
};
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Let the person choose an agent and one of its sessions, and open a chat that continues it. */
export async function continueSession(
  server: Pick<Server, "sessions">,
  models: Models,
  fixer: Fixer,
  now: () => number = Date.now,
): Promise<void> {
  const model = await choose(models);
  if (model === undefined) {
    return;
  }
  const sessions = await list(server, models, model, fixer);
  if (sessions === undefined) {
    return;
  }
  if (sessions.length === 0) {
    void vscode.window.showInformationMessage(
      `${model.name} has no earlier sessions in the folders of this window.`,
    );
    return;
  }
  const hasFolders = new Set(sessions.map(({ cwd }) => cwd)).size > 1;
  const items = sessions.map((session) => ({
    label: wordsWithoutIcons(session.title ?? "") || UNTITLED,
    description: ago(session.updatedAt, now()),
    detail: wordsWithoutIcons(
      hasFolders ? `${session.cwd} \u00b7 ${session.sessionId}` : session.sessionId,
    ),
    session,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: `Continue which session of ${model.name}?`,
    placeHolder: "A new chat shows what was said, and goes on in the session.",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen === undefined) {
    return;
  }
  await openChat(model.id, `/continue ${chosen.session.sessionId}`);
}

/** Return the agent that the person chooses; there is no choice where there is only one. */
async function choose(models: Models): Promise<PickableModel | undefined> {
  const agents = models.list().filter(({ id }) => keepsSessions(models, id));
  if (agents.length <= 1) {
    if (agents.length === 0) {
      void vscode.window.showInformationMessage(
        "There is no agent whose sessions could be continued. Add one first: vscodelm: Add Agent...",
      );
    }
    return agents[0];
  }
  const items = agents.map((model) => ({ label: model.name, description: model.id, model }));
  const title = "Continue a session of which agent?";
  return (await vscode.window.showQuickPick(items, { title }))?.model;
}

/** Endpoints and Eliza keep none. What the program's own models are isn't known here. */
function keepsSessions(models: Models, id: string): boolean {
  const model = models.configuredModel(id);
  return model === undefined ? id !== "eliza" : ["acp", "mcp_server"].includes(kindOf(model) ?? "");
}

async function list(
  server: Pick<Server, "sessions">,
  models: Models,
  { id, name }: PickableModel,
  fixer: Fixer,
): Promise<ListedSession[] | undefined> {
  const params: SessionsParams = { modelId: id, ...models.definitionOf(id) };
  const location = vscode.ProgressLocation.Notification;
  const title = `Listing the sessions of ${name}`;
  try {
    return await vscode.window.withProgress({ location, title, cancellable: true }, (_, token) =>
      server.sessions(params, token),
    );
  } catch (error) {
    if (fixesOf(error).length === 0) {
      throw error;
    }
    await fixer.offer(messageOf(error), fixesOf(error), id, AFTER_FIX);
    return undefined;
  }
}

/** Return how long ago a time was, in words; nothing for a time that can't be read. */
export function ago(time: string | undefined, now: number): string {
  const seconds = (now - Date.parse(time ?? "")) / 1000;
  if (Number.isNaN(seconds)) {
    return "";
  }
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ["second", 1];
  if (unit === "second") {
    return "just now";
  }
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  return words.format(-Math.floor(seconds / length), unit);
}

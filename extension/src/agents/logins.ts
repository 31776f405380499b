// Logins as their user sees them: a failed chat offers the ways to log in, and a command logs out.

import * as vscode from "vscode";
import { fixesOf, messageOf } from "../chat/failures.ts";
import type { Models } from "../chat/models.ts";
import type { Server } from "../program/server.ts";
import type { AccountParams } from "../program/wire.ts";
import { reporting } from "../reporting.ts";
import type { Fixer } from "../setup/fixes.ts";

const AFTER_LOGIN = {
  words: "Send your message again, or press Try Again under the answer that failed.",
  button: "Go to the Chat",
  run: () => vscode.commands.executeCommand("workbench.action.chat.open"),
};
const AFTER_LOGOUT = { words: "The next message may need a login.", button: "OK", run: () => {} };

export class Logins {
  /** Models about which a message is shown: one says it all. */
  private readonly shown = new Set<string>();

  constructor(
    private readonly server: Pick<Server, "account">,
    private readonly models: Models,
    private readonly log: Pick<vscode.LogOutputChannel, "error" | "show">,
    /** Not at hand when this is made, because it logs in by this. */
    private readonly fixer: () => Fixer,
  ) {}

  /** Have an agent log in by a method of its own; return whether it did. Rejects if it can't. */
  logIn(modelId: string, methodId: string): Promise<boolean> {
    return this.ask(modelId, `Logging in to ${modelId}`, { methodId });
  }

  /** Let the user choose an agent, and log out of it. */
  async logOut(): Promise<void> {
    const names = new Map(this.models.list().map(({ id, name }) => [`${name} (${id})`, id]));
    const chosen = await vscode.window.showQuickPick([...names.keys()], {
      title: "Log out of which agent?",
    });
    const id = names.get(chosen ?? "");
    if (id === undefined) {
      return;
    }
    try {
      if (!(await this.ask(id, `Logging out of ${id}`, {}))) {
        return; // the user has cancelled it
      }
    } catch (error) {
      if (fixesOf(error).length === 0) {
        throw error;
      }
      await this.fixer().offer(messageOf(error), fixesOf(error), id, AFTER_LOGOUT);
      return;
    }
    void vscode.window.showInformationMessage(`${chosen} is logged out. ${AFTER_LOGOUT.words}`);
  }

  /** A chat has failed: offer its fixes as buttons, beside the words in the chat. */
  failed({ id }: { id: string }, error: unknown): void {
    const fixes = fixesOf(error);
    if (fixes.length === 0 || this.shown.has(id)) {
      return;
    }
    this.shown.add(id);
    const offer = () => this.fixer().offer(firstSentence(messageOf(error)), fixes, id, AFTER_LOGIN);
    void reporting(this.log, id, offer)().finally(() => this.shown.delete(id));
  }

  private async ask(modelId: string, title: string, more: { methodId?: string }): Promise<boolean> {
    const params: AccountParams = { modelId, ...this.models.definitionOf(modelId), ...more };
    const location = vscode.ProgressLocation.Notification;
    return vscode.window.withProgress({ location, title, cancellable: true }, (_, token) =>
      this.server.account(params, token),
    );
  }
}

/** The rest says in words what the buttons say, and stands in the chat. */
function firstSentence(text: string): string {
  return text.split(/(?<=\.) /, 1)[0] ?? text;
}

// A fake of the editor's built-in chat: what VS Code 1.139 was seen to do for a person without an account.

import type * as real from "vscode";
import { EventEmitter } from "./events.ts";

interface Selector {
  vendor?: string;
  id?: string;
}

export class BuiltInChat {
  /** A new VS Code has it switched off. */
  isOn = true;
  /** An administrator may forbid it. */
  isForbidden = false;
  /** Whether it asks for an account all the same. */
  insistsOnAccount = false;
  /** The groups of models that are the person's own. */
  readonly groups: { vendor: string; name: string }[] = [];
  /** How often a sign-in dialog was shown. */
  dialogs = 0;
  /** How often a chat was begun. */
  chats = 0;
  readonly switched = new EventEmitter<void>();
  readonly listed = new EventEmitter<void>();

  constructor(private readonly provided: Map<string, unknown>) {}

  readonly commands: Record<string, (argument: never, options: never) => unknown> = {
    "lm.addLanguageModelsProviderGroup": (group: { vendor: string; name: string }) => {
      if (this.groups.some(({ name }) => name === group.name)) {
        throw new Error(`Language model group with name ${group.name} already exists for vendor`);
      }
      this.groups.push(group);
    },
    "workbench.extensions.installExtension": (_: string, options: { enable?: boolean }) => {
      if (options.enable && !this.isForbidden) {
        this.isOn = true;
        setTimeout(() => this.switched.fire(), 100); // other extensions learn it later
      }
    },
    "workbench.action.chat.newChat": () => {
      this.chats++;
    },
    "workbench.action.chat.open": (options?: { query: string; modelSelector: Selector }) => {
      if (options !== undefined) {
        this.send(options.query, options.modelSelector);
      }
    },
  };

  models(selector: Selector): real.LanguageModelChatInformation[] {
    const provider = this.provided.get(selector.vendor ?? "") as
      | { provideLanguageModelChatInformation(): real.LanguageModelChatInformation[] }
      | undefined;
    const all = provider?.provideLanguageModelChatInformation() ?? [];
    return all.filter(({ id }) => selector.id === undefined || selector.id === id);
  }

  private send(query: string, selector: Selector): void {
    const [model] = this.models(selector);
    if (model === undefined) {
      throw new Error("No language models found matching selector");
    }
    if (!this.isOn || this.groups.length === 0 || this.insistsOnAccount) {
      this.dialogs++;
      return;
    }
    const provider = this.provided.get(selector.vendor ?? "") as real.LanguageModelChatProvider;
    const options = { toolMode: 1, requestInitiator: "GitHub.copilot-chat".toLowerCase() };
    const message = { role: 1, content: [{ value: query }], name: undefined };
    const progress = { report() {} };
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({}) };
    // It shows a failure in the chat, and tells nobody else.
    Promise.resolve(
      provider.provideLanguageModelChatResponse(
        model,
        [message],
        options,
        progress,
        token as unknown as real.CancellationToken,
      ),
    ).catch(() => {});
  }
}

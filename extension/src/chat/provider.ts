// The provider that the editor's chats call: models, answers, tokens.

import * as vscode from "vscode";
import type { AgentChanges } from "../edits/agent_changes.ts";
import type { Server } from "../program/server.ts";
import type { ChatParams, Part } from "../program/wire.ts";
import { TokenCounter } from "../tokens/counter.ts";
import { lastWordsOf, messageOf, toLanguageModelError, toShownError } from "./failures.ts";
import { partFromWire } from "./incoming.ts";
import type { Models } from "./models.ts";
import { messageToWire, optionsToWire } from "./outgoing.ts";
import type { Asker, Questions } from "./questions.ts";
import { digestOf, type Rules } from "./rules.ts";
import { UnaskedQuestions } from "./unasked.ts";
import type { ShownUsage } from "./usage.ts";

/** The parts of the editor that ask for a person and show them the error. */
const BUILT_IN_CHATS = ["github.copilot-chat", "core"];

/** A request of the built-in chat that is over. */
export interface ChatAnswer {
  /** The model's id. */
  model: string;
  /** Why it failed. */
  failure?: string;
}

export class Provider implements vscode.LanguageModelChatProvider {
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  private readonly answered = new vscode.EventEmitter<ChatAnswer>();
  readonly onDidAnswerChat = this.answered.event;
  private readonly counter = new TokenCounter();
  private readonly unasked: UnaskedQuestions;

  constructor(
    private readonly server: Pick<Server, "chat">,
    private readonly models: Models,
    private readonly questions: Questions,
    private readonly rules: Rules,
    private readonly changes: Pick<AgentChanges, "take">,
    private readonly usage: Pick<ShownUsage, "take">,
    private readonly log: Pick<vscode.LogOutputChannel, "error" | "debug">,
    /** Called with each failure; no chat waits for it. */
    private readonly failed: (
      model: { id: string; name: string },
      error: unknown,
    ) => void = () => {},
    /** Called when the user wants to add models. */
    private readonly wanted: () => void = () => {},
  ) {
    this.onDidChangeLanguageModelChatInformation = models.onDidChange;
    this.unasked = new UnaskedQuestions(log);
  }

  /** An editor that isn't silent asks because its user wants to add models. They are listed when they are there. */
  provideLanguageModelChatInformation(
    options?: vscode.PrepareLanguageModelChatModelOptions,
  ): vscode.LanguageModelChatInformation[] {
    if (options?.silent === false) {
      this.wanted();
    }
    return this.models.list();
  }

  async provideLanguageModelChatResponse(
    model: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { requestInitiator } = options as { requestInitiator?: string };
    const isBuiltIn = BUILT_IN_CHATS.includes(requestInitiator ?? "");
    try {
      const asker = this.askerOf(model);
      const params = this.paramsOf(asker, messages, options);
      this.unasked.look(params.messages);
      this.questions.settle(params.messages);
      const told = await this.server.chat(
        params,
        (received) => {
          this.learn(params, model, received);
          this.usage.take(model.name, received);
          if (this.changes.take(received)) {
            return;
          }
          const part = partFromWire(this.questions.take(received, asker));
          if (part) {
            progress.report(part);
          }
        },
        token,
      );
      if (told) {
        this.fail(model, told, isBuiltIn); // its words are the answer already
      } else if (isBuiltIn) {
        this.answered.fire({ model: model.id });
      }
    } catch (error) {
      this.fail(model, error, isBuiltIn);
      throw isBuiltIn ? toShownError(error) : toLanguageModelError(error);
    }
  }

  async provideTokenCount(
    model: vscode.LanguageModelChatInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    return this.counter.count(model, text);
  }

  private fail(
    model: vscode.LanguageModelChatInformation,
    error: unknown,
    isBuiltIn: boolean,
  ): void {
    const words = lastWordsOf(error);
    this.log.error(`${model.id}: ${messageOf(error)}${words ? `\n${words}` : ""}`);
    this.failed(model, error);
    if (isBuiltIn) {
      this.answered.fire({ model: model.id, failure: messageOf(error) });
    }
  }

  private askerOf({ id, name }: vscode.LanguageModelChatInformation): Asker {
    const configured = this.models.configuredModel(id);
    return { id, name, definition: configured && digestOf(configured.agent) };
  }

  private paramsOf(
    asker: Asker,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
  ): ChatParams {
    const configured = this.models.configuredModel(asker.id);
    const allowed = this.rules.allowed(asker);
    return {
      modelId: asker.id,
      messages: messages.map(messageToWire),
      // A model that the process knows by itself is looked up by its id there.
      ...(configured && { agent: configured.agent, settings: configured.settings }),
      options: { ...optionsToWire(options), ...(allowed.length > 0 && { allowed }) },
    };
  }

  /** An estimate that can't be made better costs nobody an answer. */
  private learn(
    params: ChatParams,
    { family }: vscode.LanguageModelChatInformation,
    part: Part,
  ): void {
    try {
      this.counter.learn(params, family, part);
    } catch (error) {
      this.log.debug(`no tokens are learned from this answer: ${messageOf(error)}`);
    }
  }
}

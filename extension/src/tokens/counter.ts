// Tokens of texts and messages, model by model. Editors ask for these tens of thousands of times in
// a chat, so no process takes part. The counts of a server correct the estimates of its model.

import type * as vscode from "vscode";
import { messageToWire } from "../chat/outgoing.ts";
import { isObject } from "../json.ts";
import type { ChatParams, Part } from "../program/wire.ts";
import { HybridEstimator } from "./tokens.ts";

export class TokenCounter {
  private readonly models = new Map<string, HybridEstimator>();

  /** Estimate the tokens of a text or of a message. */
  count(
    { id, family }: Pick<vscode.LanguageModelChatInformation, "id" | "family">,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): number {
    const estimator = this.estimator(id, family);
    return typeof text === "string"
      ? estimator.estimateText(text)
      : estimator.estimateMessage(messageToWire(withContent(text)));
  }

  /** Learn from an answer's part, if it tells how many tokens the request had. */
  learn({ modelId, messages, agent, options }: ChatParams, family: string, part: Part): void {
    // An agent's own context is another one than the request; an endpoint is sent just that.
    if (
      part.type !== "data" ||
      part.mimeType !== "usage" ||
      !isObject(agent) ||
      !("open_responses" in agent)
    ) {
      return;
    }
    const tokens = promptTokens(String(part.data));
    if (tokens !== undefined) {
      this.estimator(modelId, family).calibrate(messages, tokens, options.tools);
    }
  }

  private estimator(id: string, family: string): HybridEstimator {
    let estimator = this.models.get(id);
    if (estimator === undefined) {
      estimator = new HybridEstimator(family);
      this.models.set(id, estimator);
    }
    return estimator;
  }
}

function promptTokens(data: string): number | undefined {
  try {
    const { prompt_tokens: tokens } = JSON.parse(Buffer.from(data, "base64").toString("utf8"));
    return typeof tokens === "number" ? tokens : undefined;
  } catch {
    return undefined;
  }
}

/** Editors have given messages whose content is a private field. */
function withContent(
  message: vscode.LanguageModelChatRequestMessage,
): vscode.LanguageModelChatRequestMessage {
  const { role, name, content, _content } = message as {
    _content?: readonly unknown[];
  } & vscode.LanguageModelChatRequestMessage;
  return { role, name, content: content ?? _content ?? [] };
}

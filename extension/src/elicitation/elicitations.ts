// The questions that agents ask while they answer: forms, and pages to open. They are asked one after
// the other.

import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import type { ElicitParams, ElicitResult } from "../program/wire.ts";
import { askForField, choose, type QuestionHead } from "./boxes.ts";
import { fillInForm } from "./form.ts";
import { type Page, pageOf } from "./page.ts";
import { fieldsOf, Unreadable } from "./schema.ts";
import { plainWords, wordsWithoutIcons } from "./words.ts";

const CANCEL: ElicitResult = { action: "cancel" };

export class Elicitations {
  private newest: Promise<unknown> = Promise.resolve();

  constructor(
    /** Return the name of a model. */
    private readonly nameOf: (modelId: string) => string,
    private readonly log: Pick<vscode.LogOutputChannel, "info" | "warn">,
  ) {}

  /** Ask the user, as soon as the earlier questions are over. It never rejects. */
  ask(params: ElicitParams, modelId: string, signal: AbortSignal): Promise<ElicitResult> {
    const answer = this.newest.then(() => this.answered(params, modelId, signal));
    this.newest = answer.catch(() => {});
    return answer;
  }

  private async answered(
    params: ElicitParams,
    modelId: string,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    if (signal.aborted) {
      return CANCEL;
    }
    const asker = this.nameOf(modelId);
    try {
      const message = typeof params.message === "string" ? params.message : "";
      const result = await this.show({ asker, message }, params, signal);
      this.log.info(`${modelId}: its agent's question was answered: ${result.action}`);
      return result;
    } catch (error) {
      const why = plainWords(messageOf(error));
      this.log.warn(`${modelId}: its agent's question can't be shown: ${why}`);
      void vscode.window.showWarningMessage(
        `${asker} has a question that can't be shown: ${why}. The agent goes on without an answer.`,
      );
      return CANCEL;
    }
  }

  private async show(
    head: QuestionHead,
    { requestedSchema, url }: ElicitParams,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    if (url !== undefined && url !== null) {
      return askToOpen(head, pageOf(url), signal);
    }
    if (requestedSchema === undefined || requestedSchema === null) {
      throw new Unreadable("it has neither a form nor a page");
    }
    const { fields, omitted } = fieldsOf(requestedSchema);
    for (const why of omitted) {
      this.log.warn(`A form is shown without an optional field: ${why}`);
    }
    return fields.length > 0
      ? fillInForm(fields, (step) => askForField(head, step, signal))
      : confirm(head, signal);
  }
}

/** A form without fields asks for a yes. */
async function confirm(head: QuestionHead, signal: AbortSignal): Promise<ElicitResult> {
  const items = [
    { label: "Accept", value: "accept" as const },
    { label: "Decline", value: "decline" as const },
  ];
  const chosen = await choose(head, "asks you to confirm", items, signal);
  if (chosen.action !== "chosen") {
    return chosen;
  }
  return chosen.value === "accept" ? { action: "accept", content: {} } : { action: "decline" };
}

/** Open a page, if the user wants that. They may copy its address, and open it in another browser. */
async function askToOpen(
  head: QuestionHead,
  page: Page,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const { address, host, warnings } = page;
  const open = {
    label: wordsWithoutIcons(`Open ${host}`),
    description: warnings.join(", "),
    detail: wordsWithoutIcons(address),
    value: "open" as const,
  };
  const decline = { label: "Decline", value: "decline" as const };
  const copy = { label: "Copy the address", value: "copy" as const };
  const copied = {
    label: "I have opened the page",
    description: "Its address was copied",
    value: "accept" as const,
  };
  for (let isCopied = false; ; ) {
    const items = [open, isCopied ? copied : copy, decline];
    const chosen = await choose(head, "asks you to open a page", items, signal);
    if (chosen.action !== "chosen") {
      return chosen;
    }
    if (chosen.value === "copy") {
      await vscode.env.clipboard.writeText(address);
      isCopied = true;
    } else if (chosen.value !== "open") {
      return { action: chosen.value };
    } else if (await opened(address)) {
      return { action: "accept" };
    }
  }
}

/** Open an address exactly as it is; return whether that was done. The editor may ask the user, too. */
function opened(address: string): Thenable<boolean> {
  // A `Uri` is encoded anew, and a server would read other parameters. The editor takes texts, too,
  // which its declarations don't say.
  return vscode.env.openExternal(address as unknown as vscode.Uri);
}

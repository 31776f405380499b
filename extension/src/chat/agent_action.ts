// The tool through which an agent's question reaches the user. The editor's own confirmation is the
// question; that the tool is run at all is the answer yes.

import * as vscode from "vscode";
import { reach } from "../setup/welcome_steps.ts";
import type { AlwaysAllow } from "./always_allow.ts";
import { foldCode } from "./fold.ts";
import { titleOf } from "./permission.ts";
import type { Question, Questions } from "./questions.ts";

/** The word that approves; hosts answer a skipped or stopped call in words of their own. */
export const APPROVED = "Approved";
/** Stands before the id of an answer of the agent's own. */
const APPROVED_WITH = "Approved with option: ";
const UNKNOWN =
  "This question isn't open any more. Send another message, and the agent asks again.";

export class AgentAction implements vscode.LanguageModelTool<object> {
  constructor(
    private readonly questions: Questions,
    private readonly always: AlwaysAllow,
  ) {}

  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<object>): vscode.PreparedToolInvocation {
    const question = this.find(input);
    const { message } = question;
    // Without icons: they would stand in the place of `$(name)` in a command.
    const shown = new vscode.MarkdownString(breaksLines() ? message : foldCode(message));
    void reach("hasAsked");
    const link = this.always.linkFor(question);
    if (link !== undefined) {
      shown.appendMarkdown(`${apart(shown.value)}${link.markdown}`);
      shown.isTrusted = { enabledCommands: [link.command] };
    }
    return {
      invocationMessage: question.title,
      confirmationMessages: { title: titleOf(question), message: shown },
    };
  }

  async invoke({
    input,
  }: vscode.LanguageModelToolInvocationOptions<object>): Promise<vscode.LanguageModelToolResult> {
    const question = this.find(input);
    question.isAnswered = true;
    const option = await this.always.approved(question);
    const text = option === undefined ? APPROVED : APPROVED_WITH + option;
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }

  /** An error is no approval, and tells the user that they weren't asked. */
  private find(input: unknown): Question {
    const question = this.questions.find(input);
    if (question === undefined) {
      throw new Error(UNKNOWN);
    }
    return question;
  }
}

/** What keeps words apart from what is before them. Where a chat isn't on the page its questions are in a
 * dialog, as plain text, in which only code isn't followed by a new line. An empty heading is. */
function apart(before: string): string {
  return before.trimEnd().endsWith("```") ? "\n\n######\n\n" : "\n\n";
}

/** Whether the editor breaks long lines of code in chats: our default, which a user may change. */
function breaksLines(): boolean {
  return vscode.workspace.getConfiguration("chat").get("editor.wordWrap") === "on";
}

// The tool through which an agent's question reaches the user. The editor's own confirmation is the
// question; that the tool is run at all is the answer yes.

import * as vscode from "vscode";
import { type Question, showQuestion } from "./permission.ts";

/** The word that approves; hosts answer a skipped or stopped call in words of their own. */
export const APPROVED = "Approved";

export class AgentAction implements vscode.LanguageModelTool<Question> {
  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<Question>): vscode.PreparedToolInvocation {
    const { title, message } = showQuestion(input ?? {});
    // Without icons: they would stand in the place of `$(name)` in a command.
    const shown = new vscode.MarkdownString(message);
    return {
      invocationMessage: typeof input?.title === "string" ? input.title : "The agent acts",
      confirmationMessages: { title, message: shown },
    };
  }

  invoke(): vscode.LanguageModelToolResult {
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(APPROVED)]);
  }
}

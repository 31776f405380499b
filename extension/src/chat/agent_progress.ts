// The tool whose call ends a response. The editor shows the response then, calls the tool and asks on:
// that it asks on is all that counts. After a stop it doesn't.

import * as vscode from "vscode";

export class AgentProgress implements vscode.LanguageModelTool<object> {
  /** Without a confirmation: nothing is done. */
  prepareInvocation(): vscode.PreparedToolInvocation {
    return { invocationMessage: "The agent works" };
  }

  invoke(): vscode.LanguageModelToolResult {
    return new vscode.LanguageModelToolResult([]);
  }
}

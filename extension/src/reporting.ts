// Errors of functions that the editor calls and doesn't await: commands and event listeners. Each error is
// reported once, in the log and to the user; without this it would be nobody's, or told twice.

import * as vscode from "vscode";
import { messageOf } from "./chat/failures.ts";

type Handler<Args extends unknown[]> = (...args: Args) => unknown;

/** Return the handler as one that never rejects; `what` names it in the log. */
export function reporting<Args extends unknown[]>(
  log: Pick<vscode.LogOutputChannel, "error" | "show">,
  what: string,
  handler: Handler<Args>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await handler(...args);
    } catch (error) {
      log.error(`${what}: ${(error instanceof Error && error.stack) || messageOf(error)}`);
      await offerLog(log, messageOf(error));
    }
  };
}

/** The command that gathers what helps to understand a problem. */
const REPORT_PROBLEM = "vscodelm.reportProblem";

/** Show an error to the user, with the ways on. It never rejects: a window may be closing. */
export async function offerLog(
  log: Pick<vscode.LogOutputChannel, "show">,
  message: string,
): Promise<void> {
  const show = "Show Log";
  const report = "Report a Problem";
  try {
    const pressed = await vscode.window.showErrorMessage(message, show, report);
    if (pressed === show) {
      log.show();
    } else if (pressed === report) {
      await vscode.commands.executeCommand(REPORT_PROBLEM);
    }
  } catch {
    // nobody is there to read it
  }
}

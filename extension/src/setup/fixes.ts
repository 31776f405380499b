// Carries out remedies for a failure: open a page, store a key, run a command in a terminal, log
// in, or open the settings.

import * as vscode from "vscode";
import { reporting } from "../reporting.ts";
import type { Env, Fix } from "./fix.ts";
import { showAgents } from "./own_settings.ts";

/** The user's next step after a remedy. */
export interface Retry {
  words: string;
  button: string;
  run(): unknown;
}

export class Fixer {
  constructor(
    private readonly own: {
      /** Ask for a key and store it for a model; return whether that was done. */
      setKey(variable: string, modelId: string): Promise<boolean>;
      /** Have the agent of a model log in by a method of its own; return whether it did, and wasn't cancelled. */
      logIn(modelId: string, methodId: string): Promise<boolean>;
      /** Return the variables that the program has beside the editor's. */
      environment(): Env;
      log: Pick<vscode.LogOutputChannel, "error" | "show">;
    },
  ) {}

  /** Show a failure with a button for each fix; the message goes away when one was pressed. */
  async offer(message: string, fixes: readonly Fix[], modelId: string, retry: Retry) {
    const titles = fixes.map(({ title }) => title);
    const pressed = await vscode.window.showWarningMessage(message, ...titles);
    const fix = fixes.find(({ title }) => title === pressed);
    if (fix !== undefined) {
      await this.apply(fix, modelId, retry);
    }
  }

  /** Do it. A command in a terminal runs on when this returns. */
  async apply(fix: Fix, modelId: string, retry: Retry): Promise<void> {
    switch (fix.type) {
      case "page":
        await vscode.env.openExternal(vscode.Uri.parse(fix.url));
        break;
      case "settings":
        await showAgents();
        break;
      case "login":
        if (!(await this.own.logIn(modelId, fix.methodId))) {
          return;
        }
        void this.suggest(`"${fix.title}" is done. ${retry.words}`, retry);
        break;
      case "key":
        for (const variable of fix.variables) {
          if (!(await this.own.setKey(variable, modelId))) {
            return;
          }
        }
        void this.suggest(`${fix.variables.join(" and ")} is stored. ${retry.words}`, retry);
        break;
      case "terminal":
        await this.run(fix, retry);
    }
  }

  /** Run it as a task: its terminal stays open when it has ended, so its output can be read. */
  private async run(fix: Fix & { type: "terminal" }, retry: Retry): Promise<void> {
    const { title, command, args = [], env, cwd } = fix;
    const options = { env: { ...this.own.environment(), ...env }, ...(cwd ? { cwd } : {}) };
    const task = new vscode.Task(
      { type: "vscodelm" },
      vscode.TaskScope.Workspace,
      title,
      "vscodelm",
      new vscode.ProcessExecution(command, args, options),
    );
    task.presentationOptions = {
      reveal: vscode.TaskRevealKind.Always,
      panel: vscode.TaskPanelKind.New,
      focus: true,
    };
    const running = await vscode.tasks.executeTask(task);
    const ended = (status: number | undefined) => {
      const how = status === 0 ? "is done." : `ended with status ${status ?? "unknown"}.`;
      return this.suggest(`"${title}" ${how} ${retry.words}`, retry);
    };
    const watch = vscode.tasks.onDidEndTaskProcess(
      reporting(this.own.log, title, async ({ execution, exitCode }) => {
        if (execution === running) {
          watch.dispose();
          await ended(exitCode);
        }
      }),
    );
  }

  private async suggest(message: string, retry: Retry): Promise<void> {
    if ((await vscode.window.showInformationMessage(message, retry.button)) === retry.button) {
      await retry.run();
    }
  }
}

// Asks whether to make the extension's own environment, and makes it, one at a time.

import * as vscode from "vscode";
import type { OwnEnvironment } from "./environment.ts";
import { offerLog } from "./reporting.ts";

export class Installer {
  private installing: Promise<string | undefined> | undefined;

  constructor(
    private readonly environment: Pick<
      OwnEnvironment,
      "program" | "anyProgram" | "exists" | "create"
    >,
    private readonly log: Pick<vscode.LogOutputChannel, "info" | "error" | "show">,
  ) {}

  program(): Promise<string | undefined> {
    return this.environment.program();
  }

  /** Return the program, made if the user agrees; who agreed once isn't asked for an update. */
  async ask(): Promise<string | undefined> {
    if (this.installing === undefined && !(await this.environment.exists())) {
      const install = "Install";
      const answer = await vscode.window.showInformationMessage(
        "These models are answered by vscodelm, a Python program that isn't installed here. Install it for this extension?",
        {
          modal: true,
          detail:
            "It goes into a folder of the extension's own, with what it needs from the Python package index. uv or Python 3.11 must be there.",
        },
        install,
      );
      if (answer !== install) {
        return undefined;
      }
    }
    return this.install();
  }

  /** Return the program, made anew. If that failed, which the user is told, it is the one before. */
  install(): Promise<string | undefined> {
    this.installing ??= this.create().finally(() => {
      this.installing = undefined;
    });
    return this.installing;
  }

  private async create(): Promise<string | undefined> {
    try {
      await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: "Installing vscodelm" },
        () => this.environment.create((text) => this.log.info(text.trimEnd())),
      );
      return await this.environment.program();
    } catch (error) {
      const reason = (error as Error).message;
      const older = await this.environment.anyProgram();
      const outcome = older === undefined ? "" : " The one that was installed before goes on.";
      this.log.error(`${reason}${outcome}`);
      void offerLog(this.log, `vscodelm couldn't be installed: ${reason}${outcome}`);
      return older;
    }
  }
}

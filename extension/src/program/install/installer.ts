// Asks whether to make the extension's own environment, and makes it, one at a time. The user sees
// each step and can cancel it. After a failure they read the reason and the remedy.

import * as vscode from "vscode";
import type { OwnEnvironment } from "./environment.ts";
import { InstallFailure } from "./failure.ts";
import { Cancelled, type Work } from "./work.ts";

const INSTALL = "Install";
const DOWNLOAD = "Download Python";
const TRY_AGAIN = "Try Again";
const SHOW_LOG = "Show Log";
const OWN_FOLDER = "The extension keeps it in its own folder";

export class Installer {
  private asking: Promise<string | undefined> | undefined;
  private installing: Promise<string | undefined> | undefined;
  private running: AbortController | undefined;

  constructor(
    private readonly environment: Pick<
      OwnEnvironment,
      "program" | "anyProgram" | "exists" | "tools" | "create"
    >,
    private readonly log: Pick<vscode.LogOutputChannel, "info" | "error" | "show">,
  ) {}

  program(): Promise<string | undefined> {
    return this.environment.program();
  }

  /**
   * Return the program, made if the user agrees. An update needs no second consent. Several callers at
   * once lead to one question.
   */
  ask(): Promise<string | undefined> {
    this.asking ??= this.askAlone().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /**
   * Return the program, made anew. After a failure it is the earlier one, and the user reads why.
   */
  install(mayDownload = false): Promise<string | undefined> {
    this.installing ??= this.create(mayDownload).finally(() => {
      this.installing = undefined;
    });
    return this.installing;
  }

  /** End the running installation: the window closes. */
  dispose(): void {
    this.running?.abort(new Cancelled());
  }

  private async askAlone(): Promise<string | undefined> {
    if (this.installing === undefined && !(await this.environment.exists())) {
      const tools = await this.environment.tools(this.work(new AbortController().signal));
      const lacking = tools.kind === "none" ? tools.why : undefined;
      const agrees = await this.agrees(
        "These models need vscodelm, a Python program that isn't installed here. Install it for this extension?",
        `${OWN_FOLDER}, with what it needs from the Python package index.${
          lacking === undefined ? "" : ` Python is downloaded, too, because ${lacking}: ${SIZE}.`
        }`,
        INSTALL,
      );
      return agrees ? this.install(lacking !== undefined) : undefined;
    }
    return this.install();
  }

  private async create(mayDownload: boolean): Promise<string | undefined> {
    try {
      await this.withProgress((work) => this.environment.create(work, mayDownload));
      return await this.environment.program();
    } catch (error) {
      const older = await this.environment.anyProgram();
      if (error instanceof Cancelled) {
        this.log.info(error.message);
        return older;
      }
      if (error instanceof InstallFailure && error.reason === "python" && !mayDownload) {
        if (
          await this.agrees(`${error.message} Download one?`, `${OWN_FOLDER}: ${SIZE}.`, DOWNLOAD)
        ) {
          return this.create(true);
        }
      }
      const outcome = older === undefined ? "" : " The older installation is still used.";
      const message = `vscodelm couldn't be installed. ${(error as Error).message}${outcome}`;
      this.log.error(message);
      void this.tell(message);
      return older;
    }
  }

  private async agrees(question: string, detail: string, yes: string): Promise<boolean> {
    const how = { modal: true, detail };
    return (await vscode.window.showInformationMessage(question, how, yes)) === yes;
  }

  private withProgress(run: (work: Work) => Promise<void>): Thenable<void> {
    const where = {
      location: vscode.ProgressLocation.Notification,
      title: "Installing vscodelm",
      cancellable: true,
    };
    return vscode.window.withProgress(where, async (progress, token) => {
      const running = new AbortController();
      const watch = token.onCancellationRequested(() => running.abort(new Cancelled()));
      this.running = running;
      try {
        await run(this.work(running.signal, (message) => progress.report({ message })));
      } finally {
        watch.dispose();
        this.running = undefined;
      }
    });
  }

  private work(signal: AbortSignal, stage: (what: string) => void = () => {}): Work {
    return { said: (line) => this.log.info(line), stage, signal };
  }

  /** It never rejects: a window may be closing. Trying again is the command, which starts the program, too. */
  private async tell(message: string): Promise<void> {
    try {
      const answer = await vscode.window.showErrorMessage(message, TRY_AGAIN, SHOW_LOG);
      if (answer === TRY_AGAIN) {
        await vscode.commands.executeCommand("vscodelm.install");
      } else if (answer === SHOW_LOG) {
        this.log.show();
      }
    } catch {
      // nobody is there to read it
    }
  }
}

/** The downloads that a machine without Python needs. */
const SIZE = "some 70 MB in all";

// Long work of vscodelm, such as the download of an agent: a notification with a Cancel button.

import * as vscode from "vscode";
import type { Teller } from "./process.ts";
import { CANCEL_PROGRESS, type ProgressParams } from "./wire.ts";

interface Shown {
  report(message: string): void;
  end(): void;
}

export class Activities {
  private readonly shown = new WeakMap<Teller, Map<number, Shown>>();

  constructor(private readonly log: Pick<vscode.LogOutputChannel, "info">) {}

  /** Show how far one of a process's activities is, or no longer. */
  tell(from: Teller, params: unknown): void {
    const { token, title, message, isOver } = params as ProgressParams;
    const its = this.shown.get(from) ?? new Map<number, Shown>();
    this.shown.set(from, its);
    if (isOver) {
      its.get(token)?.end();
      its.delete(token);
      return;
    }
    const shown = its.get(token) ?? this.show(from, token, title);
    its.set(token, shown);
    shown.report(message);
  }

  private show(from: Teller, token: number, title: string): Shown {
    this.log.info(`${title} ...`);
    let end = () => {};
    let report = (_: string) => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    void from.gone.then(end); // its activities end with the process
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (progress, cancellation) => {
        report = (message) => progress.report({ message });
        cancellation.onCancellationRequested(() => {
          from.notify(CANCEL_PROGRESS, { token });
          end();
        });
        return isOver;
      },
    );
    return { report: (message) => report(message), end: () => end() };
  }
}

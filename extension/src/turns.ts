// Which turns run, shown in the status bar while they do.
//
// Not at once: the editor would draw that before the first text of the answer, which it holds up by a
// tenth of a second where it draws slowly, and an answer that is soon complete would make it flicker.

import * as vscode from "vscode";

/** How long a turn runs before it is shown. */
export const SHOWN_AFTER_MS = 500;

export class Turns implements vscode.Disposable {
  private readonly running: { name: string }[] = [];

  constructor(
    private readonly item: Pick<
      vscode.StatusBarItem,
      "text" | "tooltip" | "command" | "show" | "hide" | "dispose"
    >,
  ) {
    item.command = "vscodelm.showLog";
  }

  /** Show that a turn runs, as soon as it takes a while, until what is returned is disposed of. */
  begin(name: string): vscode.Disposable {
    const turn = { name };
    const soon = setTimeout(() => {
      this.running.push(turn);
      this.show();
    }, SHOWN_AFTER_MS);
    return new vscode.Disposable(() => {
      clearTimeout(soon);
      const index = this.running.indexOf(turn);
      if (index >= 0) {
        this.running.splice(index, 1);
        this.show();
      }
    });
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(): void {
    const [first] = this.running;
    if (first === undefined) {
      this.item.hide();
      return;
    }
    const more = this.running.length - 1;
    this.item.text = `$(loading~spin) ${first.name}${more ? ` +${more}` : ""}`;
    this.item.tooltip = `Answering: ${this.running.map(({ name }) => name).join(", ")}`;
    this.item.show();
  }
}

// Which turns run, shown in the status bar while they do.

import * as vscode from "vscode";

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

  /** Show that a turn runs, until what is returned is disposed of. */
  begin(name: string): vscode.Disposable {
    const turn = { name };
    this.running.push(turn);
    this.show();
    return new vscode.Disposable(() => {
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

// Which turns run, shown in the status bar while they do.
//
// Not at once: the editor would draw it before the first text of the answer. On a slow machine that
// delays the text by a tenth of a second, and a short answer would make it flicker.

import * as vscode from "vscode";
import { type Usage, usageWords } from "./usage.ts";

/** Time after which a running turn is shown. */
export const SHOWN_AFTER_MS = 500;

/** A turn that runs. */
export interface Turn extends vscode.Disposable {
  /** Show the tokens and the costs, in the tooltip. */
  use(usage: Usage): void;
}

interface Running {
  name: string;
  usage?: Usage;
}

export class Turns implements vscode.Disposable {
  private readonly running: Running[] = [];
  /** The usage that the newest answer of each model had, by its name. */
  private readonly last = new Map<string, Usage>();

  constructor(
    private readonly item: Pick<
      vscode.StatusBarItem,
      "text" | "tooltip" | "command" | "show" | "hide" | "dispose"
    >,
  ) {
    item.command = "vscodelm.showLog";
  }

  /** Show that a turn runs, as soon as it takes a while, until the returned object is disposed of. */
  begin(name: string): Turn {
    const turn: Running = { name };
    const soon = setTimeout(() => {
      this.running.push(turn);
      this.show();
    }, SHOWN_AFTER_MS);
    const end = new vscode.Disposable(() => {
      clearTimeout(soon);
      const index = this.running.indexOf(turn);
      if (index >= 0) {
        this.running.splice(index, 1);
        this.show();
      }
    });
    return {
      use: (usage) => {
        turn.usage = usage;
        this.last.set(name, usage);
        if (this.running.includes(turn)) {
          this.show();
        }
      },
      dispose: () => end.dispose(),
    };
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
    const names = this.running.map(({ name }) => name).join(", ");
    this.item.tooltip = [`Answering: ${names}`, ...this.usageLines()].join("\n");
    this.item.show();
  }

  /** What an answer has used isn't known before it says so; until then the last one is of use. */
  private usageLines(): string[] {
    return this.running.flatMap(({ name, usage }) => {
      const words = usageWords(usage ?? this.last.get(name) ?? {});
      return words ? [`${name}${usage ? "" : " (last answer)"}: ${words}`] : [];
    });
  }
}

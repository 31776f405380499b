// The newest lines of the log, kept for a report: the editor doesn't give back what was logged.

import type * as vscode from "vscode";
import { MAX_KEPT_LINE, MAX_KEPT_LINES } from "../limits.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

export class KeptLines {
  readonly lines: string[] = [];

  constructor(private readonly now: () => Date = () => new Date()) {}

  /** Return the channel as one whose lines are kept. */
  of(channel: vscode.LogOutputChannel): vscode.LogOutputChannel {
    return new Proxy(channel, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") {
          return value;
        }
        const run = value.bind(target);
        return LEVELS.includes(name as Level)
          ? (line: string | Error, ...more: unknown[]) => {
              this.keep(name as Level, String(line));
              run(line, ...more);
            }
          : run;
      },
    });
  }

  private keep(level: Level, line: string): void {
    const time = this.now().toISOString().slice(11, 23);
    this.lines.push(`${time} ${level} ${line.slice(0, MAX_KEPT_LINE)}`);
    this.lines.splice(0, this.lines.length - MAX_KEPT_LINES);
  }
}

// The process's log lines in the editor's log, at their own levels.

import * as vscode from "vscode";

const LINE = /^time=\S+ level=(\w+) (.*)$/s;

/** Write a line of the process's log; a line of another form comes from a library in it. */
export function logLine(log: Pick<vscode.LogOutputChannel, LevelName>, line: string): void {
  const [, level, text] = LINE.exec(line) ?? [];
  switch (level) {
    case "DEBUG":
      log.debug(text ?? line);
      break;
    case "INFO":
      log.info(text ?? line);
      break;
    case "ERROR":
    case "CRITICAL":
      log.error(text ?? line);
      break;
    case "WARNING":
      log.warn(text ?? line);
      break;
    default:
      log.warn(line);
  }
}

type LevelName = "debug" | "info" | "warn" | "error";

/** Return the level at which the process must log so that this level shows everything. */
export function logLevel(level: vscode.LogLevel): string {
  switch (level) {
    case vscode.LogLevel.Trace:
    case vscode.LogLevel.Debug:
      return "debug";
    case vscode.LogLevel.Info:
      return "info";
    case vscode.LogLevel.Warning:
      return "warning";
    default:
      return "error";
  }
}

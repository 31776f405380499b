// Starts the program with what the settings, the key ring and PATH say now.

import type * as vscode from "vscode";
import { processSettings, workingFolder } from "../configuration.ts";
import type { Secrets } from "../setup/secrets.ts";
import { findOnPath } from "./executable.ts";
import type { Installer } from "./install/installer.ts";
import { launchOf } from "./launch.ts";
import { logLevel } from "./log.ts";
import type { Launch } from "./start.ts";

export class Launcher {
  constructor(
    private readonly installer: Pick<Installer, "program" | "ask">,
    private readonly secrets: Pick<Secrets, "environment">,
    private readonly log: Pick<vscode.LogOutputChannel, "logLevel">,
  ) {}

  /** Return how to start the program, with the stored keys; it may ask whether to install it. */
  async launch(mayAsk: boolean): Promise<Launch> {
    return this.launchWith(await this.secrets.environment(), mayAsk);
  }

  /** Return how to start the program, with these keys. */
  launchWith(keys: Record<string, string>, mayAsk: boolean): Promise<Launch> {
    return launchOf(
      {
        settings: processSettings(),
        programs: {
          onPath: () => findOnPath("vscodelm"),
          own: () => this.installer.program(),
          install: () => this.installer.ask(),
        },
        secrets: keys,
        environment: process.env,
        logLevel: logLevel(this.log.logLevel),
        folder: workingFolder(),
      },
      mayAsk,
    );
  }

  /** Return whether there is a program to start. */
  hasProgram(): Promise<boolean> {
    return this.launch(false).then(
      () => true,
      () => false,
    );
  }
}

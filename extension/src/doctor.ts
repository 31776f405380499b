// `vscodelm doctor` for a model of the settings, in a terminal.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Models } from "./models.ts";
import type { Launch } from "./start.ts";
import { toToml } from "./toml.ts";

export async function runDoctor(
  models: Models,
  launch: () => Promise<Launch>,
  storage: string,
): Promise<void> {
  const id = await vscode.window.showQuickPick(
    models.list().map((model) => model.id),
    { title: "Examine which agent?" },
  );
  if (id === undefined) {
    return;
  }
  const { command, args, env, cwd } = await launch();
  const configured = models.configuredModel(id);
  const config: string[] = [];
  if (configured) {
    await mkdir(storage, { recursive: true });
    const file = join(storage, "doctor.toml");
    await writeFile(file, toToml([configured]), { mode: 0o600 });
    config.push("--config", file);
  }
  const terminal = vscode.window.createTerminal({
    name: `vscodelm doctor ${id}`,
    shellPath: command,
    shellArgs: [...args, "doctor", ...config, id],
    env,
    cwd,
    isTransient: true, // else the editor writes it down, with the secrets among its variables
  });
  terminal.show();
}

// The values of `${input:...}`: asked once, and kept in the editor's secret storage.

import * as vscode from "vscode";
import type { Input } from "./entries.ts";

const PREFIX = "mcpInput:";

export class Inputs {
  constructor(private readonly storage: vscode.SecretStorage) {}

  async get(place: string, id: string): Promise<string | undefined> {
    return this.storage.get(keyOf(place, id));
  }

  async forget(place: string, id: string): Promise<void> {
    await this.storage.delete(keyOf(place, id));
  }

  /** Ask for each of the inputs that has no value yet; return whether all have one now. */
  async ask(place: string, server: string, inputs: Input[]): Promise<boolean> {
    for (const input of inputs) {
      if ((await this.get(place, input.id)) === undefined) {
        const value = await askFor(input, server);
        if (value === undefined) {
          return false;
        }
        await this.storage.store(keyOf(place, input.id), value);
      }
    }
    return true;
  }
}

function keyOf(place: string, id: string): string {
  return `${PREFIX}${JSON.stringify([place, id])}`;
}

async function askFor(input: Input, server: string): Promise<string | undefined> {
  const title = `${input.id} of the MCP server ${server}`;
  const { description, fallback, options, password } = input;
  if (input.type === "pickString") {
    return vscode.window.showQuickPick(options, {
      title,
      ignoreFocusOut: true,
      ...(description === undefined ? {} : { placeHolder: description }),
    });
  }
  return vscode.window.showInputBox({
    title,
    prompt: `${description ?? ""} VS Code stores it in its secret storage.`.trim(),
    password,
    ignoreFocusOut: true,
    ...(fallback === undefined ? {} : { value: fallback }),
  });
}

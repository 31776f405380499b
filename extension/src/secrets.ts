// Keys that agents need, kept by the editor, given to the process as environment variables, and by it to
// those agents that name them. They are in no settings file, no log and no line on the wire.

import type * as vscode from "vscode";

const NAMES = "secretNames";
const PREFIX = "environment:";

export class Secrets {
  constructor(
    private readonly storage: vscode.SecretStorage,
    private readonly memory: vscode.Memento,
  ) {}

  /** Return the names of the variables; the storage itself can't always be listed. */
  names(): readonly string[] {
    return this.memory.get<string[]>(NAMES, []);
  }

  async set(name: string, value: string): Promise<void> {
    await this.storage.store(PREFIX + name, value);
    await this.memory.update(NAMES, [...new Set([...this.names(), name])].sort());
  }

  async delete(name: string): Promise<void> {
    await this.storage.delete(PREFIX + name);
    await this.memory.update(
      NAMES,
      this.names().filter((other) => other !== name),
    );
  }

  /** Return the variables with their values. */
  async environment(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of this.names()) {
      const value = await this.storage.get(PREFIX + name);
      if (value !== undefined) {
        found[name] = value;
      }
    }
    return found;
  }
}

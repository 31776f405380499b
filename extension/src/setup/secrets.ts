// Keys that agents need, kept by the editor, given to the process as environment variables, and by it to
// those agents that name them. They are in no settings file, no log and no line on the wire.

import * as vscode from "vscode";

const PREFIX = "environment:";
/** The key under which earlier versions kept the names; the storage now lists them itself. */
const FORMER_LIST = "secretNames";

export class Secrets implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** A key was set, changed or deleted, in this window or in another one. */
  readonly onDidChange = this.changed.event;
  private readonly watch: vscode.Disposable;

  constructor(
    private readonly storage: vscode.SecretStorage,
    memory: vscode.Memento,
  ) {
    this.watch = storage.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) {
        this.changed.fire();
      }
    });
    void memory.update(FORMER_LIST, undefined);
  }

  /** Return the names of the variables. */
  async names(): Promise<string[]> {
    const keys = await this.storage.keys();
    return keys
      .filter((key) => key.startsWith(PREFIX))
      .map((key) => key.slice(PREFIX.length))
      .sort();
  }

  async set(name: string, value: string): Promise<void> {
    await this.storage.store(PREFIX + name, value);
  }

  async delete(name: string): Promise<void> {
    await this.storage.delete(PREFIX + name);
  }

  /** Return the variables with their values. */
  async environment(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of await this.names()) {
      const value = await this.storage.get(PREFIX + name);
      if (value !== undefined) {
        found[name] = value; // else it was deleted just now
      }
    }
    return found;
  }

  dispose(): void {
    this.watch.dispose();
    this.changed.dispose();
  }
}

// What the editor keeps for an extension: values, and secrets.

import type * as vscode from "vscode";
import { EventEmitter } from "./events.ts";

export class Memory implements vscode.Memento {
  private readonly kept = new Map<string, unknown>();
  keys = () => [...this.kept.keys()];
  get = <T>(key: string, fallback?: T) => (this.kept.get(key) ?? fallback) as T;
  update = async (key: string, value: unknown) => {
    this.kept.set(key, value);
  };
}

export class Vault implements vscode.SecretStorage {
  private readonly kept = new Map<string, string>();
  private readonly changed = new EventEmitter<vscode.SecretStorageChangeEvent>();
  readonly onDidChange = this.changed.event;
  get = async (key: string) => this.kept.get(key);
  store = async (key: string, value: string) => {
    this.kept.set(key, value);
    this.changed.fire({ key });
  };
  delete = async (key: string) => {
    this.kept.delete(key);
    this.changed.fire({ key });
  };
  keys = async () => [...this.kept.keys()];
}

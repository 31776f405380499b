// A fake of the editor's settings: values of several layers, merged as the editor does it, and scopes
// that say which layer may have a value, as package.json declares them.

import { readFileSync } from "node:fs";
import type * as real from "vscode";
import { EventEmitter } from "./events.ts";

/** Where a value can be: the user's own settings, those of a remote machine, and those of folders. */
export type Layer = "user" | "machine" | "workspace" | "folder";

const LAYERS: Layer[] = ["user", "machine", "workspace", "folder"];

interface Property {
  scope?: string;
  default?: unknown;
}

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const properties: Record<string, Property> = manifest.contributes.configuration.properties;

export class Settings {
  /** Whether the window shows the files of another machine. */
  isRemote = false;
  /** An editor of old, or one that hasn't read package.json yet, takes a value from any layer. */
  honoursScopes = true;
  readonly changed = new EventEmitter<real.ConfigurationChangeEvent>();
  private readonly values = new Map<Layer, Map<string, unknown>>();

  /** Write a value into the settings file of a layer. */
  write(key: string, value: unknown, layer: Layer = "user"): void {
    const values = this.values.get(layer) ?? new Map<string, unknown>();
    this.values.set(layer, values.set(key, value));
    if (this.mayHave(layer, key)) {
      const affectsConfiguration = (section: string) =>
        key === section || key.startsWith(`${section}.`);
      this.changed.fire({ affectsConfiguration });
    }
  }

  /** Return what stands in the settings file of a layer, whether or not it counts. */
  written(key: string, layer: Layer = "user"): unknown {
    return this.values.get(layer)?.get(key);
  }

  of = (section: string) => ({
    get: <T>(key: string, fallback?: T) => {
      const name = `${section}.${key}`;
      const values = LAYERS.map((layer) => this.value(layer, name));
      return (merge([properties[name]?.default, ...values]) ?? fallback) as T;
    },
    inspect: (key: string) => {
      const name = `${section}.${key}`;
      return {
        key: name,
        defaultValue: properties[name]?.default,
        globalValue: merge([this.value("user", name), this.value("machine", name)]),
        workspaceValue: this.value("workspace", name),
        workspaceFolderValue: this.value("folder", name),
      };
    },
    update: async (key: string, value: unknown, target: unknown) => {
      if (target !== 1) {
        throw new Error("only the user's own settings are written");
      }
      const name = `${section}.${key}`;
      this.write(name, value, this.isRemote && this.isOfMachine(name) ? "machine" : "user");
    },
  });

  private value(layer: Layer, key: string): unknown {
    return this.mayHave(layer, key) ? this.written(key, layer) : undefined;
  }

  private mayHave(layer: Layer, key: string): boolean {
    const { scope = "window" } = properties[key] ?? {};
    if (!this.honoursScopes || (layer === "machine" && !this.isRemote)) {
      return !this.honoursScopes;
    }
    switch (layer) {
      case "user":
        return !(this.isRemote && this.isOfMachine(key));
      case "machine":
        return scope !== "application";
      case "workspace":
        return scope !== "application" && scope !== "machine";
      case "folder":
        return scope === "resource" || scope === "machine-overridable";
    }
  }

  private isOfMachine(key: string): boolean {
    return properties[key]?.scope?.startsWith("machine") ?? false;
  }
}

/** Objects are merged deeply, of anything else the last one counts. */
function merge(values: unknown[]): unknown {
  return values.reduce((below, value) => {
    if (value === undefined) {
      return below;
    }
    if (!isObject(below) || !isObject(value)) {
      return value;
    }
    const keys = new Set([...Object.keys(below), ...Object.keys(value)]);
    return Object.fromEntries([...keys].map((key) => [key, merge([below[key], value[key]])]));
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

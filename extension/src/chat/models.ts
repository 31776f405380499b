// Every model that can be picked: those of the settings, and those that the process knows by itself.
// Editors ask many times a minute, so they get the known list, and an event when it changes.

import * as vscode from "vscode";
import {
  type AgentKind,
  type ConfiguredModel,
  type ConfiguredModels,
  kindOf,
  provisional,
} from "../agents/agents.ts";
import { isObject } from "../json.ts";
import type { ModelInformation, ModelsResult } from "../program/wire.ts";
import { messageOf } from "./failures.ts";

const KEPT = "models";

/**
 * A model, as the editor gets it. VS Code up to 1.120 lists only models with this flag, which the
 * declarations of its API lack.
 */
export interface PickableModel extends ModelInformation {
  isUserSelectable: true;
  /** The kind of the model, in the picker's description of it. */
  category?: { label: string; order: number };
  /** Its icon. A narrow chat shows only an icon: this one, or the same for all models. */
  statusIcon?: vscode.ThemeIcon;
}

/** How the picker shows each kind of agent. */
const FACES: Record<AgentKind, { icon: string; label: string; order: number }> = {
  acp: { icon: "terminal", label: "Agent", order: 1 },
  mcp_server: { icon: "terminal", label: "Agent", order: 1 },
  open_responses: { icon: "cloud", label: "Endpoint", order: 2 },
  eliza: { icon: "comment-discussion", label: "For a first try", order: 3 },
};

export class Models implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private configured: ConfiguredModels;
  private offered: ModelInformation[];
  /** Why models of the settings can't be used, by their ids. */
  private faults: Record<string, string> = {};
  private toldFaults = new Set<string>();
  private refreshing: Promise<void> | undefined;
  private wasListed = false;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly read: () => ConfiguredModels,
    private readonly ask: (configured: ConfiguredModel[]) => Promise<ModelsResult | null>,
    private readonly log: { info(text: string): void; warn(text: string): void },
    /** Called with the program's words about a model that can't be used. */
    private readonly onFault: (words: string) => unknown = () => {},
  ) {
    this.offered = modelsIn(memory.get<unknown>(KEPT)) ?? [];
    this.configured = this.readSettings();
  }

  /**
   * Return the models for the picker. A model of the settings goes before another of the same id. The first list
   * asks the process for its models: a window in which nobody wants models starts no process.
   */
  list(): PickableModel[] {
    if (!this.wasListed) {
      this.wasListed = true;
      void this.refresh();
    }
    const { models, hidden } = this.configured;
    const taken = new Set([...models.map(({ id }) => id), ...hidden]);
    const all = [
      ...models
        .filter(({ id }) => !(id in this.faults))
        .map((model) => ({
          ...(this.offered.find(({ id }) => id === model.id) ?? provisional(model)),
          ...faceOf(model),
        })),
      ...this.offered.filter(({ id }) => !taken.has(id)),
    ];
    return all.map((information) => ({ ...information, isUserSelectable: true }));
  }

  /** Why models of the settings can't be used, by their ids: the words of the program. */
  get faulty(): Readonly<Record<string, string>> {
    return this.faults;
  }

  /** The definitions of the settings. */
  get definitions(): unknown[] {
    return this.configured.models.map(({ agent }) => agent);
  }

  /** Return the model of the settings, undefined if it is one that the process knows. */
  configuredModel(id: string): ConfiguredModel | undefined {
    return this.configured.models.find((model) => model.id === id);
  }

  /** Return the definition that a request about a model carries: none if the process knows the model. */
  definitionOf(id: string): { agent?: unknown } {
    const configured = this.configuredModel(id);
    return configured === undefined ? {} : { agent: configured.agent };
  }

  /** The settings have changed. */
  reconfigure(): void {
    this.configured = this.readSettings();
    this.faults = {}; // the next answer says which are left
    this.changed.fire();
    if (this.wasListed) {
      void this.refreshAnew();
    }
  }

  /** Ask the process which models it knows; several that want it are served by one question. */
  refresh(): Promise<void> {
    this.refreshing ??= this.fetch().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Ask a process that is new; a question that waits may have gone to the former one. */
  async refreshAnew(): Promise<void> {
    await this.refreshing;
    await this.refresh();
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async fetch(): Promise<void> {
    try {
      const answer = await this.ask(this.configured.models);
      const offered = modelsIn(answer?.models);
      if (offered === undefined) {
        throw new Error("the program's answer isn't a list.");
      }
      const before = JSON.stringify([this.offered, this.faults]);
      this.offered = offered;
      this.takeFaults(answer?.faults);
      if (JSON.stringify([offered, this.faults]) !== before) {
        await this.memory.update(KEPT, offered);
        this.changed.fire();
      }
    } catch (error) {
      // The user didn't ask for this, so no message is shown. The next chat shows the fault.
      this.log.info(`vscodelm's own models aren't known yet: ${(error as Error).message}`);
    }
  }

  /** Each fault is told once, as long as its words stay the same. */
  private takeFaults(told: unknown): void {
    this.faults = isObject(told) ? (told as Record<string, string>) : {};
    for (const words of Object.values(this.faults)) {
      if (!this.toldFaults.has(words)) {
        this.onFault(words);
      }
    }
    this.toldFaults = new Set(Object.values(this.faults));
  }

  private readSettings(): ConfiguredModels {
    try {
      return this.read();
    } catch (error) {
      this.log.warn(messageOf(error));
      return { models: [], hidden: [] };
    }
  }
}

/** Return how the picker shows a model of the settings. */
function faceOf(model: ConfiguredModel): Pick<PickableModel, "category" | "statusIcon"> {
  const face = FACES[kindOf(model) ?? "acp"];
  if (face === undefined) {
    return {}; // the program is about to say that there is no such agent
  }
  const { icon, label, order } = face;
  return { category: { label, order }, statusIcon: new vscode.ThemeIcon(icon) };
}

/** Return a list's models, undefined if it is no list; an entry that isn't a model is left out. */
function modelsIn(list: unknown): ModelInformation[] | undefined {
  return Array.isArray(list)
    ? list.filter((model) => typeof model?.id === "string" && typeof model.name === "string")
    : undefined;
}

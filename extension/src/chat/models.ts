// Every model that can be picked: those of the settings, and those that the process knows by itself.
// Editors ask many times a minute, so they get the known list, and an event when it changes.

import * as vscode from "vscode";
import type { ConfiguredModel, ConfiguredModels } from "../agents/agents.ts";
import type { ModelInformation } from "../program/wire.ts";

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
const FACES: Record<string, { icon: string; label: string; order: number }> = {
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
  private refreshing: Promise<void> | undefined;
  private wasListed = false;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly read: () => ConfiguredModels,
    private readonly ask: (configured: ConfiguredModel[]) => Promise<unknown>,
    private readonly log: { info(text: string): void; warn(text: string): void },
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
    const taken = new Set([...models.map(({ information }) => information.id), ...hidden]);
    const all = [
      ...models.map((model) => ({
        ...model.information,
        ...this.knownOf(model),
        ...faceOf(model),
      })),
      ...this.offered.filter(({ id }) => !taken.has(id)),
    ];
    return all.map((information) => ({ ...information, isUserSelectable: true }));
  }

  /** The process knows what the agent of a model offers to choose, and the size of its context. */
  private knownOf({ information, hasLimit }: ConfiguredModel): Partial<ModelInformation> {
    const offered = this.offered.find((model) => model.id === information.id);
    const { configurationSchema, maxInputTokens } = offered ?? {};
    return {
      ...(configurationSchema !== undefined && { configurationSchema }),
      ...(maxInputTokens !== undefined && !hasLimit && { maxInputTokens }),
    };
  }

  /** Return the model of the settings, undefined if it is one that the process knows. */
  configuredModel(id: string): ConfiguredModel | undefined {
    return this.configured.models.find(({ information }) => information.id === id);
  }

  /** The settings have changed. */
  reconfigure(): void {
    this.configured = this.readSettings();
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
      const offered = modelsIn(await this.ask(this.configured.models));
      if (offered === undefined) {
        throw new Error("the program's answer isn't a list.");
      }
      if (JSON.stringify(offered) !== JSON.stringify(this.offered)) {
        this.offered = offered;
        await this.memory.update(KEPT, offered);
        this.changed.fire();
      }
    } catch (error) {
      // The user didn't ask for this, so no message is shown. The next chat shows the fault.
      this.log.info(`vscodelm's own models aren't known yet: ${(error as Error).message}`);
    }
  }

  private readSettings(): ConfiguredModels {
    const read = this.read();
    for (const fault of read.faults) {
      this.log.warn(fault);
    }
    return read;
  }
}

/** Return how the picker shows a model of the settings. */
function faceOf({ agent }: ConfiguredModel): Pick<PickableModel, "category" | "statusIcon"> {
  const face = FACES[Object.keys(agent)[0] ?? ""];
  if (face === undefined) {
    return {};
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

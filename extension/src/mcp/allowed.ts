// The servers that the user allows for agents. The editor keeps them for this extension, so neither a
// folder nor an agent can write them.

import type * as vscode from "vscode";

const KEPT = "mcpServers";

interface Kept {
  place: string;
  name: string;
  /** Of the entry of a folder, when it was allowed; the user's own entries have none. */
  digest?: string;
}

export type Verdict = "allowed" | "changed" | "no";

export class Allowed {
  constructor(private readonly memory: vscode.Memento) {}

  /** Return whether an entry may be handed over; `digest` is that of a folder's entry as it is now. */
  verdict(place: string, name: string, digest: string | undefined): Verdict {
    const kept = this.kept().find((one) => one.place === place && one.name === name);
    if (kept === undefined) {
      return "no";
    }
    return kept.digest === digest ? "allowed" : "changed";
  }

  async allow(place: string, name: string, digest: string | undefined): Promise<void> {
    const kept = { place, name, ...(digest === undefined ? {} : { digest }) };
    await this.memory.update(KEPT, [...this.without(place, name), kept]);
  }

  async refuse(place: string, name: string): Promise<void> {
    await this.memory.update(KEPT, this.without(place, name));
  }

  private without(place: string, name: string): Kept[] {
    return this.kept().filter((one) => one.place !== place || one.name !== name);
  }

  private kept(): Kept[] {
    return this.memory.get<Kept[]>(KEPT, []);
  }
}

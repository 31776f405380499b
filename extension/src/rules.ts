// What the user allows an agent without a question. It is kept by the editor for this extension, so that
// neither a folder nor an agent can write it, and sent along with each request.

import { createHash } from "node:crypto";
import type * as vscode from "vscode";
import { LASTING_KINDS } from "./permission.ts";
import type { Asker } from "./questions.ts";
import type { Allowed } from "./wire.ts";

const KEPT = "allowed";

export interface Rule {
  /** The model that it is for. */
  id: string;
  name: string;
  /** The digest of what the model's agent is: with another command or address it is another agent. */
  definition: string | undefined;
  kind: string;
  /** One action of the kind; undefined: all of them. */
  action: string | undefined;
  /** The command that the action is, to show. */
  command: string | undefined;
}

export interface KnownRule extends Rule {
  isForGood: boolean;
}

export class Rules {
  private session: Rule[] = [];

  constructor(private readonly memory: vscode.Memento) {}

  /** Return what an agent may do without a question. */
  allowed(asker: Asker): Allowed[] {
    return this.list()
      .filter(({ id, definition }) => id === asker.id && definition === asker.definition)
      .map(({ kind, action }) => ({ kind, ...(action === undefined ? {} : { action }) }));
  }

  /** Return all rules, those for good first. */
  list(): KnownRule[] {
    return [
      ...this.kept().map((rule) => ({ ...rule, isForGood: true })),
      ...this.session.map((rule) => ({ ...rule, isForGood: false })),
    ];
  }

  async add({ isForGood, ...rule }: KnownRule): Promise<void> {
    if (!(rule.kind in LASTING_KINDS)) {
      throw new Error(`Nothing of the kind "${rule.kind}" can be allowed for longer than once.`);
    }
    if (!isForGood) {
      this.session = [...without(this.session, rule), rule];
    } else if (rule.definition === undefined) {
      throw new Error("An agent that isn't in the settings can't be allowed anything for good.");
    } else {
      await this.memory.update(KEPT, [...without(this.kept(), rule), rule]);
    }
  }

  async remove({ isForGood, ...rule }: KnownRule): Promise<void> {
    if (isForGood) {
      await this.memory.update(KEPT, without(this.kept(), rule));
    } else {
      this.session = without(this.session, rule);
    }
  }

  private kept(): Rule[] {
    return this.memory.get<Rule[]>(KEPT, []);
  }
}

/** Return what stands for a definition: it may have secrets, so it isn't kept itself. */
export function digestOf(agent: object): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(agent)))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Array.isArray(value) ? value.map(sorted) : value;
  }
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]);
}

function without(rules: readonly Rule[], rule: Rule): Rule[] {
  const same = (one: Rule) =>
    one.id === rule.id &&
    one.definition === rule.definition &&
    one.kind === rule.kind &&
    one.action === rule.action;
  return rules.filter((one) => !same(one));
}

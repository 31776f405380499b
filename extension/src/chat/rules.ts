// The actions that the user allows an agent without a question. The editor keeps them for this
// extension, so neither a folder nor an agent can write them. Each request carries them.

import { createHash } from "node:crypto";
import type * as vscode from "vscode";
import type { Allowed } from "../program/wire.ts";
import { LASTING_KINDS } from "./permission.ts";
import type { Asker } from "./questions.ts";

const KEPT = "allowed";

interface Rule {
  /** The model that it is for. */
  id: string;
  name: string;
  /** The digest of the agent's definition: with another command or address it is another agent. */
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

  /** Return the rules of an agent: its actions that need no question. */
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
      throw new Error(`Actions of the kind "${rule.kind}" can be allowed only once.`);
    }
    if (!isForGood) {
      this.session = [...without(this.session, rule), rule];
    } else if (rule.definition === undefined) {
      throw new Error("Only an agent of the settings can get a rule for good.");
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

/** Return a digest of a definition: the definition may have secrets, so it isn't kept. */
export function digestOf(agent: unknown): string {
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

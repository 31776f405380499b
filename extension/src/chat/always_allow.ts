// Rules that allow more than one action. The user chooses a rule beside a question; it counts once
// the user allows that action. *Manage Permissions* lists the rules and removes them.

import * as vscode from "vscode";
import { LASTING_KINDS } from "./permission.ts";
import type { Question, Questions } from "./questions.ts";
import type { KnownRule, Rules } from "./rules.ts";

/** A link runs it; no palette lists what begins so. */
export const ALWAYS_ALLOW = "_vscodelm.alwaysAllow";

/**
 * A lasting permission beside one *Allow*: our own rule, or a lasting answer that the agent offers.
 */
type Choice = { rule: KnownRule } | { option: string };

interface Item extends vscode.QuickPickItem {
  choice: Choice | undefined;
}

export class AlwaysAllow {
  private readonly chosen = new WeakMap<Question, Choice>();

  constructor(
    private readonly questions: Questions,
    private readonly rules: Rules,
  ) {}

  /** Return the link beside a question, undefined where it can be allowed only once. */
  linkFor(question: Question): { markdown: string; command: string } | undefined {
    if (choicesFor(question).length === 0) {
      return undefined;
    }
    const { number } = question;
    const args = encodeURIComponent(JSON.stringify(number === undefined ? [] : [number]));
    return {
      markdown: `[Always Allow...](command:${ALWAYS_ALLOW}?${args})`,
      command: ALWAYS_ALLOW,
    };
  }

  /** Let the user choose a lasting permission for the question of this number. */
  async choose(number?: unknown): Promise<void> {
    const question = this.questions.find({ question: number });
    const choices = question === undefined ? [] : choicesFor(question);
    if (question === undefined || choices.length === 0) {
      void vscode.window.showInformationMessage("This question isn't open any more.");
      return;
    }
    const once: Item = { label: "Only this once", choice: undefined };
    const picked = await vscode.window.showQuickPick([once, ...choices], {
      title: `Always allow ${question.asker.name} to ...`,
      placeHolder: "Your choice takes effect when you press Allow Once below the question.",
    });
    if (picked?.choice !== undefined) {
      this.chosen.set(question, picked.choice);
      const what = `${picked.label}${picked.description ? ` (${picked.description})` : ""}`;
      void vscode.window.showInformationMessage(
        `Now press Allow Once below the question. This allows: ${what}.`,
      );
    } else if (picked !== undefined) {
      this.chosen.delete(question);
    }
  }

  /** A question was approved: keep the rule that was chosen with it, or return the agent's answer. */
  async approved(question: Question): Promise<string | undefined> {
    const choice = this.chosen.get(question);
    if (choice === undefined || "option" in choice) {
      return choice?.option;
    }
    await this.rules.add(choice.rule);
    return undefined;
  }

  /** Show all rules, and take back those that are chosen. */
  async manage(): Promise<void> {
    const rules = this.rules.list();
    if (rules.length === 0) {
      void vscode.window.showInformationMessage(
        "You have no rules. The setting vscodelm.permissions, or an agent's own rules, may still allow actions.",
      );
      return;
    }
    const items = rules.map((rule) => ({
      label: `${rule.name}: ${labelOf(rule)}`,
      description: rule.isForGood ? "for good" : "until this window closes",
      rule,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: "Actions that agents may do without asking",
      placeHolder: "Choose a rule to remove it.",
    });
    if (picked !== undefined) {
      await this.rules.remove(picked.rule);
      const told = `The rule was removed (${picked.label}). You will be asked again.`;
      void vscode.window.showInformationMessage(told);
    }
  }
}

function labelOf({
  kind,
  action,
  command,
}: Pick<KnownRule, "kind" | "action" | "command">): string {
  return action === undefined
    ? (LASTING_KINDS[kind] ?? kind)
    : `run only: ${command ?? "one command"}`;
}

/** Return the lasting permissions that a question offers. */
function choicesFor(question: Question): Item[] {
  const { kind, action, command, asker, lasting, note } = question;
  const { id, name, definition } = asker;
  const items: Item[] = [];
  const add = (one: Pick<KnownRule, "action" | "command">) => {
    for (const isForGood of definition === undefined ? [false] : [false, true]) {
      const rule = { id, name, definition, kind, isForGood, ...one };
      items.push({
        label: labelOf(rule),
        description: isForGood ? "for good" : "until this window closes",
        choice: { rule },
      });
    }
  };
  if (note === undefined && kind in LASTING_KINDS) {
    if (action !== undefined) {
      add({ action, command });
    }
    add({ action: undefined, command: undefined });
  }
  const own = lasting.map((option) => ({
    label: option.name,
    description: `the agent's own answer: ${name} keeps it`,
    choice: { option: option.id },
  }));
  return [...items, ...own];
}

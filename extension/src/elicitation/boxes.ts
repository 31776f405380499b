// The boxes of the editor in which a question of an agent is answered.

import * as vscode from "vscode";
import type { FieldInput, FieldReply, FormStep } from "./form.ts";
import type { ChoiceField, ChoicesField, NumberField, TextField } from "./schema.ts";
import { type Checked, checkChosen, checkTyped, hintOf } from "./values.ts";
import { plainWords, wordsWithoutIcons } from "./words.ts";

/** What stands in every box of a question. */
export interface QuestionHead {
  /** The name of the model that asks. */
  asker: string;
  message: string;
}

export interface Choice<T> extends vscode.QuickPickItem {
  value: T;
}

type Left = { action: "decline" | "cancel" };

const DECLINE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("circle-slash"),
  tooltip: "Decline to answer",
};

/** Ask for one field of a form. */
export function askForField(
  head: QuestionHead,
  step: FormStep,
  signal: AbortSignal,
): Promise<FieldReply> {
  const { field } = step;
  switch (field.kind) {
    case "choice":
      return askForOne(head, step, field, signal);
    case "choices":
      return askForSeveral(head, step, field, signal);
    default:
      return askForText(head, step, field, signal);
  }
}

/** Have one of some items chosen. */
export function choose<T>(
  { asker, message }: QuestionHead,
  title: string,
  items: readonly Choice<T>[],
  signal: AbortSignal,
): Promise<{ action: "chosen"; value: T } | Left> {
  const box = vscode.window.createQuickPick<Choice<T>>();
  box.title = plainWords(`${asker} ${title}`);
  box.prompt = wordsWithoutIcons(message);
  box.placeholder = "Choose your answer";
  box.items = items;
  box.activeItems = []; // an Enter that was meant for something else chooses nothing
  return shown(box, signal, (settle) => {
    onChosen(box, (value) => settle({ action: "chosen", value }));
  });
}

function askForText(
  head: QuestionHead,
  step: FormStep,
  field: TextField | NumberField,
  signal: AbortSignal,
): Promise<FieldReply> {
  const box = vscode.window.createInputBox();
  layOut(box, head, step);
  box.value = typeof step.input === "string" ? step.input : "";
  box.password = field.kind === "text" && field.isSecret;
  return shownStep(
    box,
    signal,
    () => box.value,
    (settle) => {
      const check = () => checkTyped(field, box.value);
      box.onDidChangeValue((value) => {
        box.validationMessage = value === "" ? undefined : problemIn(check());
      });
      box.onDidAccept(() => {
        const checked = check();
        box.validationMessage = problemIn(checked);
        if ("value" in checked) {
          settle({ action: "next", input: box.value, value: checked.value });
        }
      });
    },
  );
}

function askForOne(
  head: QuestionHead,
  step: FormStep,
  field: ChoiceField,
  signal: AbortSignal,
): Promise<FieldReply> {
  const box = vscode.window.createQuickPick<Choice<FieldInput>>();
  layOut(box, head, step);
  const skip = { label: "Skip", description: "Leave this without an answer", value: undefined };
  box.items = [...field.options.map(itemOf), ...(field.isRequired ? [] : [skip])];
  box.activeItems = box.items.filter(({ value }) => value !== undefined && value === step.input);
  return shownStep(
    box,
    signal,
    () => step.input,
    (settle) => {
      onChosen(box, (value) => settle({ action: "next", input: value, value }));
    },
  );
}

function askForSeveral(
  head: QuestionHead,
  step: FormStep,
  field: ChoicesField,
  signal: AbortSignal,
): Promise<FieldReply> {
  const box = vscode.window.createQuickPick<Choice<string>>();
  layOut(box, head, step);
  const hint = box.placeholder;
  const chosen = () => box.selectedItems.map(({ value }) => value);
  const before = Array.isArray(step.input) ? step.input : [];
  box.canSelectMany = true;
  box.items = field.options.map(itemOf);
  box.selectedItems = box.items.filter(({ value }) => before.includes(value));
  return shownStep(box, signal, chosen, (settle) => {
    box.onDidChangeSelection(() => {
      box.placeholder = hint;
    });
    box.onDidAccept(() => {
      const checked = checkChosen(field, chosen());
      if ("value" in checked) {
        settle({ action: "next", input: chosen(), value: checked.value });
      } else {
        box.value = ""; // it would hide the words
        box.placeholder = checked.problem;
      }
    });
  });
}

type Box = vscode.InputBox | vscode.QuickPick<vscode.QuickPickItem>;

function layOut<T extends vscode.QuickPickItem>(
  box: vscode.InputBox | vscode.QuickPick<T>,
  { asker, message }: QuestionHead,
  { field, number, total, input }: FormStep,
): void {
  const hint = hintOf(field);
  const isHintHidden =
    typeof input === "string" && (field.kind === "text" || field.kind === "number");
  const words = [message, field.description, isHintHidden ? hint : undefined];
  const optional = field.isRequired ? "" : " (optional)";
  box.title = plainWords(`${asker} asks: ${field.title}${optional}`);
  box.prompt = joined(words);
  box.placeholder = hint;
  if (total > 1) {
    box.step = number;
    box.totalSteps = total;
  }
  box.buttons = number > 1 ? [vscode.QuickInputButtons.Back, DECLINE] : [DECLINE];
}

/** Return sentences on one line; a dot parts those that don't say where they end. */
function joined(sentences: readonly (string | undefined)[]): string {
  return sentences
    .map((one = "") => wordsWithoutIcons(one))
    .filter((one) => one !== "")
    .map((one, at, { length }) => (at === length - 1 || /[.:?!…]$/.test(one) ? one : `${one} ·`))
    .join(" ");
}

function itemOf<T>(option: { value: T; title: string; description?: string }): Choice<T> {
  const { value, title, description } = option;
  return {
    value,
    label: wordsWithoutIcons(title),
    ...(description !== undefined && { detail: wordsWithoutIcons(description) }),
  };
}

function problemIn(checked: Checked): string | undefined {
  return "problem" in checked ? wordsWithoutIcons(checked.problem) : undefined;
}

/** Listen for the item that is chosen; an Enter chooses none where none is active. */
function onChosen<T>(box: vscode.QuickPick<Choice<T>>, take: (value: T) => void): void {
  box.onDidAccept(() => {
    const [item] = box.selectedItems;
    if (item !== undefined) {
      take(item.value);
    }
  });
}

/** Show the box of a field until it is settled. */
function shownStep(
  box: Box,
  signal: AbortSignal,
  input: () => FieldInput,
  listen: (settle: (reply: FieldReply) => void) => void,
): Promise<FieldReply> {
  return shown<FieldReply>(box, signal, (settle) => {
    box.onDidTriggerButton((button) => {
      if (button === vscode.QuickInputButtons.Back) {
        settle({ action: "back", input: input() });
      }
    });
    listen(settle);
  });
}

/** Show a box until it is settled, declined or left, or until the signal. */
function shown<T>(
  box: Box,
  signal: AbortSignal,
  listen: (settle: (reply: T | Left) => void) => void,
): Promise<T | Left> {
  return new Promise((resolve) => {
    const leave = () => settle({ action: "cancel" });
    const settle = (reply: T | Left) => {
      signal.removeEventListener("abort", leave);
      resolve(reply);
      box.dispose();
    };
    box.ignoreFocusOut = true;
    box.onDidTriggerButton((button) => {
      if (button === DECLINE) {
        settle({ action: "decline" });
      }
    });
    box.onDidHide(leave);
    listen(settle);
    signal.addEventListener("abort", leave);
    if (signal.aborted) {
      leave();
    } else {
      box.show();
    }
  });
}

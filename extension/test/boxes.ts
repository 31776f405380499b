// Fakes of the editor's boxes, and of what the person does in them.

import type * as real from "vscode";
import { EventEmitter } from "./events.ts";

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export const QuickInputButtons = { Back: { iconPath: new ThemeIcon("arrow-left") } };

/** The boxes that are open. The editor shows one; another one hides it. */
const open: FakeBox[] = [];

/** Return the box before the person, undefined if there is none. */
export function boxNow(): FakeBox | undefined {
  return open[0];
}

/** Close all boxes, as a new editor has none. */
export function closeBoxes(): void {
  open.splice(0);
}

class FakeBox {
  title: string | undefined;
  step: number | undefined;
  totalSteps: number | undefined;
  enabled = true;
  busy = false;
  ignoreFocusOut = false;
  value = "";
  placeholder: string | undefined;
  prompt: string | undefined;
  buttons: readonly real.QuickInputButton[] = [];
  isDisposed = false;
  private readonly hidden = new EventEmitter<void>();
  private readonly accepted = new EventEmitter<void>();
  private readonly changed = new EventEmitter<string>();
  private readonly triggered = new EventEmitter<real.QuickInputButton>();
  readonly onDidHide = this.hidden.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidChangeValue = this.changed.event;
  readonly onDidTriggerButton = this.triggered.event;

  show(): void {
    open[0]?.hide();
    open.unshift(this);
  }

  hide(): void {
    const at = open.indexOf(this);
    if (at >= 0) {
      open.splice(at, 1);
      this.hidden.fire();
    }
  }

  dispose(): void {
    this.hide();
    this.isDisposed = true;
  }

  /** Type in place of what is there. */
  type(value: string): void {
    this.value = value;
    this.changed.fire(value);
  }

  /** Press Enter. */
  enter(): void {
    this.accepted.fire();
  }

  /** Press the button whose explanation begins so; Back has none. */
  press(beginning = ""): void {
    const pressed = this.buttons.find(({ tooltip = "" }) =>
      beginning === "" ? tooltip === "" : tooltip.startsWith(beginning),
    );
    if (pressed === undefined) {
      throw new Error(`there is no button ${JSON.stringify(beginning)}`);
    }
    this.triggered.fire(pressed);
  }
}

export class FakeInputBox extends FakeBox {
  valueSelection: readonly [number, number] | undefined;
  password = false;
  validationMessage: string | real.InputBoxValidationMessage | undefined;
}

export class FakeQuickPick<T extends real.QuickPickItem> extends FakeBox {
  items: readonly T[] = [];
  activeItems: readonly T[] = [];
  selectedItems: readonly T[] = [];
  canSelectMany = false;
  matchOnDescription = false;
  matchOnDetail = false;
  keepScrollPosition = false;
  private readonly selected = new EventEmitter<readonly T[]>();
  private readonly activated = new EventEmitter<readonly T[]>();
  private readonly pressed = new EventEmitter<real.QuickPickItemButtonEvent<T>>();
  readonly onDidChangeSelection = this.selected.event;
  readonly onDidChangeActive = this.activated.event;
  readonly onDidTriggerItemButton = this.pressed.event;

  get labels(): string[] {
    return this.items.map(({ label }) => label);
  }

  /** Click on an item; where several can be chosen, on its box. */
  click(label: string): void {
    const item = this.items.find((one) => one.label === label);
    if (item === undefined) {
      throw new Error(`there is no item ${label}: ${this.labels}`);
    }
    const others = this.selectedItems.filter((one) => one !== item);
    const isChosen = this.canSelectMany && others.length < this.selectedItems.length;
    this.selectedItems = this.canSelectMany ? [...others, ...(isChosen ? [] : [item])] : [item];
    this.selected.fire(this.selectedItems);
    if (!this.canSelectMany) {
      this.enter();
    }
  }
}

export type { FakeBox };
export const declaredBoxes = {
  input: (): real.InputBox => new FakeInputBox(),
  pick: (): real.QuickPick<real.QuickPickItem> => new FakeQuickPick(),
};

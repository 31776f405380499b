// The built-in chat, as a person uses it.

import type { Locator, Page } from "playwright-core";

/** The chat at the side of the window, and one that is open as an editor. */
export const VIEW = ".part.auxiliarybar .interactive-session";
export const EDITOR = ".part.editor .interactive-session";

/** The models of all these tests. */
const MODELS = /Eliza|Claude|Scripted|Inside|OpenCode|Endpoint/;

/** A file that a tool has made is written when the editor saves it. */
export const SAVED = { timeout: 10_000 };

/** A line of the chat's list: somebody's message. */
interface Row {
  index: number;
  isResponse: boolean;
  isLoading: boolean;
  text: string;
}

export class Chat {
  constructor(
    readonly page: Page,
    readonly root = VIEW,
    /** How long something may take at most, in milliseconds. */
    private readonly patience = 60_000,
  ) {}

  get input(): Locator {
    return this.page.locator(`${this.root} .chat-input-container .monaco-editor`).last();
  }

  get picker(): Locator {
    const older = `${this.root} [aria-label^="Pick Model"] .chat-input-picker-label`;
    return this.page.locator(`${this.root} .model-picker-name, ${older}`).first();
  }

  /** The picker, if it has this model; in a narrow chat only its label says so. */
  private pickerWith(model: string | RegExp): Locator {
    const labelled = this.picker.and(this.page.getByLabel(model));
    return this.picker.filter({ hasText: model }).or(labelled);
  }

  get stopButton(): Locator {
    return this.page.locator(`${this.root} .codicon-stop-circle`).first();
  }

  /** A button for what the agents have changed: "Keep" or "Undo". */
  button(name: string): Locator {
    return this.page
      .locator(`${this.root} .chat-editing-session .monaco-button`, { hasText: name })
      .first();
  }

  /** The question of a tool that wants to be confirmed. */
  get question(): Locator {
    return this.page.locator(`${this.root} .chat-tool-confirmation-carousel-container:visible`);
  }

  /** Wait until the chat is there, with models to pick from. */
  async opened(): Promise<void> {
    await this.input.waitFor({ timeout: 90_000 });
    await this.pickerWith(MODELS).waitFor({ timeout: 90_000 });
  }

  /** Choose a model in the picker, which shows only what was known when it was opened. */
  async choose(model: string): Promise<void> {
    const widget = this.page.locator(".action-widget");
    const chosen = this.pickerWith(model);
    for (let tries = 0; tries < 10 && (await chosen.count()) === 0; tries++) {
      await this.picker.click();
      try {
        await widget.locator("input").fill(model, { timeout: 5_000 });
        await widget
          .locator(`.monaco-list-row[aria-label^="${model}"]`)
          .waitFor({ timeout: 5_000 });
        await this.page.keyboard.press("Enter");
        await chosen.waitFor({ timeout: 5_000 });
      } catch {
        await this.page.keyboard.press("Escape");
      }
    }
    await chosen.waitFor({ timeout: 1_000 });
  }

  /** Open the picker, and return the names of the models that it lists. */
  async listed(): Promise<string[]> {
    const row = ".action-widget .monaco-list-row";
    const others = this.page.locator(`${row}[aria-label^="Other Models"]`);
    await this.picker.click();
    // Something lies over the list until the pointer moves.
    await others.hover({ force: true });
    await others.click();
    await this.page.locator(`${row}[aria-label^="Other Models"][aria-expanded="true"]`).waitFor();
    return this.page.locator(`${row} .title`).allTextContents();
  }

  /** Send a message, and don't wait for its answer. */
  async send(text: string): Promise<void> {
    const before = (await this.rows()).at(-1)?.index ?? -1;
    await this.moveAway();
    await this.input.click();
    await this.page.keyboard.insertText(text);
    await this.page.keyboard.press("Enter");
    await this.until((rows) => {
      const [request, response] = rows.slice(-2);
      return Boolean(
        request?.text.includes(firstLine(text)) && response?.isResponse && response.index > before,
      );
    }, `"${text}" to be sent`);
  }

  /** Move the pointer to where nothing is. What it rests on may explain itself, and cover the input. */
  private async moveAway(): Promise<void> {
    const { width, height } = this.page.viewportSize() ?? { width: 0, height: 0 };
    await this.page.mouse.move(width / 2, height / 4);
  }

  /** Send a message, and return the answer to it. */
  async ask(text: string): Promise<string> {
    await this.send(text);
    return this.finished();
  }

  /** Wait until nothing is answered any more; return the newest answer. */
  async finished(timeoutMs = this.patience): Promise<string> {
    await this.until(
      (rows) => {
        const last = rows.at(-1);
        return Boolean(last?.isResponse && !last.isLoading && last.text !== "");
      },
      "the end of the answer",
      timeoutMs,
    );
    await this.stopButton.waitFor({ state: "detached", timeout: timeoutMs });
    return this.newest();
  }

  async newest(): Promise<string> {
    const last = (await this.rows()).at(-1);
    return last?.isResponse ? last.text : "";
  }

  /** Wait until nothing is answered any more; return the model's own words in the newest answer. */
  async words(): Promise<string> {
    await this.finished();
    return (await this.response.locator(".value > .rendered-markdown").allTextContents()).join(
      "\n",
    );
  }

  /** Wait until the newest answer holds a text. */
  async shows(text: string): Promise<void> {
    await this.until((rows) => {
      const last = rows.at(-1);
      return Boolean(last?.isResponse && last.text.includes(text));
    }, `an answer with "${text}"`);
  }

  /** Return what is on the page of the chat; the list keeps only what can be seen. */
  async rows(): Promise<Row[]> {
    return this.page.evaluate((root) => {
      const rows = [...document.querySelectorAll(`${root} .interactive-list .monaco-list-row`)];
      const said = (value: Element | null) => {
        const copy = value?.cloneNode(true) as Element | undefined;
        copy?.querySelectorAll("style").forEach((style) => {
          style.remove(); // of the lists in a message
        });
        return copy?.textContent ?? "";
      };
      return rows
        .map((row) => ({
          index: Number(row.getAttribute("data-index")),
          isResponse: row.querySelector(".interactive-response") !== null,
          isLoading: row.querySelector(".chat-response-loading") !== null,
          text: said(row.querySelector(".value")),
        }))
        .sort((one, other) => one.index - other.index);
    }, this.root);
  }

  /** Return the line of the list that holds a person's message. */
  request(text: string): Locator {
    return this.page
      .locator(`${this.root} .interactive-list .monaco-list-row`)
      .filter({ has: this.page.locator(".interactive-request", { hasText: text }) })
      .last();
  }

  /** Say something else in place of an earlier message, and return the answer. */
  async edit(earlier: string, now: string): Promise<string> {
    await this.request(earlier).locator(".value .rendered-markdown").click();
    const box = this.page.locator(`${this.root} .chat-edit-input-container .monaco-editor`).first();
    await box.click();
    await this.page.keyboard.press("Control+A");
    await this.page.keyboard.insertText(now);
    const hasBegun = await this.nextAnswer();
    await this.page.keyboard.press("Enter");
    await this.agreeUntil(hasBegun, "the message to be taken back");
    await this.until((rows) => rows.at(-2)?.text.includes(now) ?? false, `"${now}" to be sent`);
    return this.finished();
  }

  /** Go back to where an earlier message had not been sent. */
  async restore(earlier: string): Promise<void> {
    const request = this.request(earlier);
    const button = request.locator(".action-label", { hasText: "Restore Checkpoint" }).last();
    for (let tries = 0; tries < 20; tries++) {
      await request.hover();
      const isFree = button.click({ trial: true, timeout: 1_000 }).then(
        () => true,
        () => false,
      );
      if (await isFree) {
        break;
      }
      await this.page.mouse.wheel(0, -120); // after a long answer it is above what is seen
    }
    await this.checkpoint(request, "Restore Checkpoint");
    await this.agreeUntil(
      async () => !(await this.rows()).some(({ text }) => text.includes(earlier)),
      "the checkpoint",
    );
  }

  /** Come back from there; `newest` is the message that was the last one. */
  async redo(newest: string): Promise<void> {
    await this.checkpoint(this.page.locator(`${this.root} .interactive-list`), "Redo");
    await this.until((rows) => rows.at(-2)?.text.includes(newest) ?? false, "what was restored");
  }

  /** Open another chat, which goes on from where a message of this one had not been sent. */
  async fork(earlier: string): Promise<void> {
    const row = this.request(earlier);
    await row.hover();
    await row.locator(".chat-fork-action-item .action-label").last().click();
    await row.waitFor({ state: "detached" });
    await this.opened();
  }

  private async checkpoint(place: Locator, name: string): Promise<void> {
    await place.locator(".action-label", { hasText: name }).last().click();
  }

  /** Have the newest answer given again. */
  async retry(): Promise<string> {
    await this.response.hover();
    const hasBegun = await this.nextAnswer();
    await this.page.locator(`${this.root} .interactive-list [aria-label="Retry"]`).last().click();
    await this.agreeUntil(hasBegun, "another answer");
    return this.finished();
  }

  /** Look out for an answer in place of the newest; what is returned tells whether it has begun. It may
   * be over a moment later, and the same: so every change of the page is looked at. */
  private async nextAnswer(): Promise<() => Promise<boolean>> {
    await this.page.evaluate((root) => {
      const newest = () =>
        [...document.querySelectorAll(`${root} .interactive-list .monaco-list-row`)]
          .sort((one, other) => place(one) - place(other))
          .at(-1)
          ?.querySelector(".interactive-response .value")?.textContent;
      const place = (row: Element) => Number(row.getAttribute("data-index"));
      const before = newest();
      const page = globalThis as { hasBegun?: boolean };
      page.hasBegun = false;
      const watch = new MutationObserver(() => {
        if (newest() !== before) {
          page.hasBegun = true;
          watch.disconnect();
        }
      });
      watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    }, this.root);
    return () => this.page.evaluate(() => (globalThis as { hasBegun?: boolean }).hasBegun === true);
  }

  /** Wait for something, and say yes where the editor asks whether later messages may go. */
  private async agreeUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
    const yes = this.page
      .locator(".monaco-dialog-box .monaco-button", { hasText: /^(Yes|Continue|OK)/ })
      .first();
    for (const end = Date.now() + this.patience; Date.now() < end; ) {
      if (await holds()) {
        return;
      }
      if (await yes.isVisible()) {
        await yes.click();
      }
      await this.page.waitForTimeout(100);
    }
    throw new Error(`waited in vain for ${what}: ${JSON.stringify(await this.rows())}`);
  }

  get response(): Locator {
    return this.page.locator(`${this.root} .interactive-list .interactive-response`).last();
  }

  /** Make the side bar with the chat so many pixels wide. */
  async resize(width: number): Promise<void> {
    const bar = this.page.locator(".part.auxiliarybar");
    const box = await bar.boundingBox();
    if (box === null) {
      throw new Error("the chat isn't at the side");
    }
    const edges = await this.page
      .locator(".monaco-sash.vertical:not(.disabled)")
      .evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map((r) => r.x + r.width / 2),
      );
    const [edge = box.x] = edges.sort((a, b) => Math.abs(a - box.x) - Math.abs(b - box.x));
    const y = box.y + box.height / 2;
    await this.page.mouse.move(edge, y);
    await this.page.mouse.down();
    await this.page.mouse.move(edge + box.width - width, y, { steps: 10 });
    await this.page.mouse.up();
    await this.page.waitForTimeout(500); // the chat is drawn anew
    const now = (await bar.boundingBox())?.width ?? 0;
    if (Math.abs(now - width) > 10) {
      throw new Error(`the chat is ${now} pixels wide, not ${width}`);
    }
  }

  /** Begin another chat. */
  async newChat(): Promise<void> {
    await this.page.locator('.part.auxiliarybar [aria-label^="New Chat"]').first().click();
    await this.until((rows) => rows.length === 0, "an empty chat");
    await this.opened();
  }

  /** Load the window anew, which starts all its extensions again. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent("domcontentloaded", { timeout: 30_000 });
    await this.command("Developer: Reload Window");
    await loaded;
    await this.opened();
  }

  /** Run a command by its name, as from the palette, which lists only what was known when it opened. */
  async command(name: string): Promise<void> {
    const box = this.page.locator(".quick-input-widget input").first();
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first();
    for (let tries = 0; tries < 10; tries++) {
      await this.page.keyboard.press("F1");
      try {
        await box.fill(`>${name}`, { timeout: 5_000 });
        await row.click({ timeout: 3_000 });
        return;
      } catch {
        await this.page.keyboard.press("Escape");
      }
    }
    throw new Error(`there is no command "${name}"`);
  }

  private async until(
    holds: (rows: Row[]) => boolean,
    what: string,
    timeoutMs = this.patience,
  ): Promise<void> {
    for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
      if (holds(await this.rows())) {
        return;
      }
      await this.page.waitForTimeout(100);
    }
    throw new Error(`waited in vain for ${what}: ${JSON.stringify(await this.rows())}`);
  }
}

/** A page shows the lines of a text apart from one another. */
function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

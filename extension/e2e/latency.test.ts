// How long from Enter to the first text on the page: through the extension and the program, against a
// model that answers inside its extension. Both in one run, in turns, because machines differ.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, EDITOR, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";

/** What we may add, in milliseconds, half of the time. */
const ADDED = 30;
const WARM_UP = 2;
const ROUNDS = 10;

let editor: Editor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  editor = await Editor.start({ name: "latency", extensions: ["inside"] });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
});

afterAll(async () => {
  await page?.screenshot({ path: join(OUTPUT, "latency", "end.png") });
  await context?.close();
  await editor?.stop();
});

test(`what we add to the first text is at most ${ADDED} ms`, { timeout: 240_000 }, async () => {
  const ours = new Chat(page, VIEW);
  await ours.opened();
  await ours.choose("Eliza");
  await ours.command("Chat: New Chat Editor");
  const inside = new Chat(page, EDITOR);
  await inside.opened();
  await inside.choose("Inside");
  const times: { ours: number[]; inside: number[] } = { ours: [], inside: [] };
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const [first, second] = [await timed(inside, INSIDE, round), await timed(ours, OURS, round)];
    if (round >= WARM_UP) {
      times.inside.push(first);
      times.ours.push(second);
    }
  }
  const result = { ours: median(times.ours), inside: median(times.inside), times };
  await writeFile(join(OUTPUT, "latency", "times.json"), JSON.stringify(result, null, 2));
  console.log(`first text: ${result.ours} ms, inside an extension ${result.inside} ms`);
  expect(result.ours - result.inside).toBeLessThanOrEqual(ADDED);
});

const INSIDE = EDITOR;
const OURS = VIEW;

/** Return the time from Enter to the first text of the answer. */
async function timed(chat: Chat, root: string, round: number): Promise<number> {
  await chat.input.click();
  await page.keyboard.insertText(`This is round ${round}`);
  await page.evaluate((list) => {
    const newest = (): [number, string] => {
      let found: [number, string] = [-1, ""];
      for (const row of document.querySelectorAll(`${list} .interactive-list .monaco-list-row`)) {
        const index = Number(row.getAttribute("data-index"));
        if (index > found[0]) {
          found = [
            index,
            row.querySelector(".interactive-response .value > .chat-markdown-part")?.textContent ??
              "",
          ];
        }
      }
      return found;
    };
    const [before] = newest();
    let pressed = 0;
    const first = new Promise<number>((resolve) => {
      const watch = new MutationObserver(() => {
        const [index, text] = newest();
        if (pressed > 0 && index > before && text !== "") {
          watch.disconnect();
          resolve(performance.now() - pressed);
        }
      });
      watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    (globalThis as { firstText?: Promise<number> }).firstText = first;
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter") {
        pressed = performance.now();
        removeEventListener("keydown", press, true);
      }
    };
    addEventListener("keydown", press, true);
  }, root);
  await page.keyboard.press("Enter");
  const time = await page.evaluate(() => (globalThis as { firstText?: Promise<number> }).firstText);
  await chat.finished();
  return Math.round(time ?? Number.NaN);
}

function median(numbers: number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

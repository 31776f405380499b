// How long from Enter to the first text on the page: through the extension and the program, against a
// model that answers inside its extension. Both in one run, in turns, because machines differ; and each
// in both places, because a chat at the side may be faster than one that is open as an editor.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, EDITOR, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { shoot } from "./screenshots.ts";

/** What we may add, in milliseconds, half of the time. */
const ADDED = 30;
/** How far apart the times of one model may lie, if they are to tell anything. */
const HOPELESS = 10 * ADDED;
const WARM_UP = 1;
/** In each of the two places. */
const ROUNDS = 6;

let editor: Editor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  editor = await Editor.start({ name: "latency", extensions: ["inside"] });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
});

afterAll(async () => {
  await shoot(page, "latency", "end");
  await context?.close();
  await editor?.stop();
});

test(`what we add to the first text is at most ${ADDED} ms`, { timeout: 300_000 }, async ({
  skip,
}) => {
  const [view, other] = [new Chat(page, VIEW), new Chat(page, EDITOR)];
  await view.opened();
  await view.command("Chat: New Chat Editor");
  await other.opened();
  const ours: number[] = [];
  const inside: number[] = [];
  for (const [our, their] of [
    [view, other],
    [other, view],
  ] as const) {
    await our.choose("Eliza");
    await their.choose("Inside");
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const [first, second] = [await timed(their, round), await timed(our, round)];
      if (round >= WARM_UP) {
        inside.push(first);
        ours.push(second);
      }
    }
    if (Math.max(spread(inside), spread(ours)) > HOPELESS) {
      break; // more of such times would tell nothing either
    }
  }
  const added = median(ours) - median(inside);
  const result = { added, ours: median(ours), inside: median(inside), times: { ours, inside } };
  await writeFile(join(OUTPUT, "latency", "times.json"), JSON.stringify(result, null, 2));
  console.log(`first text: ${result.ours} ms, inside an extension ${result.inside} ms`);
  const noise = Math.max(spread(inside), spread(ours));
  // Such a machine tells little or nothing of so little: a place is slow, or a moment.
  const isTold = noise <= HOPELESS && (added <= ADDED || noise <= 2 * ADDED);
  if (!isTold && added <= noise) {
    skip(`too busy to tell: ${added} ms more, where the times of one model vary by ${noise} ms`);
  }
  expect(added).toBeLessThanOrEqual(ADDED);
});

/** Return the time from Enter to the first text of the answer. */
async function timed(chat: Chat, round: number): Promise<number> {
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
  }, chat.root);
  await page.keyboard.press("Enter");
  const time = await page.evaluate(() => (globalThis as { firstText?: Promise<number> }).firstText);
  await chat.finished();
  return Math.round(time ?? Number.NaN);
}

/** Of an even number of times. */
function median(times: number[]): number {
  const sorted = ascending(times);
  const [low, high] = sorted.slice(sorted.length / 2 - 1);
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Return how far apart the middle half of the times lies. */
function spread(times: number[]): number {
  const middle = ascending(times).slice(times.length / 4, (times.length * 3) / 4);
  return (middle.at(-1) ?? Number.NaN) - (middle[0] ?? Number.NaN);
}

function ascending(times: number[]): number[] {
  return [...times].sort((one, other) => one - other);
}

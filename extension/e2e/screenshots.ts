// What the page looks like, kept in the output of a run.

import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { OUTPUT } from "./places.ts";

/** Keep a picture of the page, named after what it shows. */
export async function shoot(page: Page | undefined, run: string, name: string): Promise<void> {
  await page?.screenshot({ path: fileOf(run, name) });
}

/** Pixels round a part of the page. */
const MARGIN = 8;

/** Keep a picture of a part of the page: the smallest that holds all of these. */
export async function crop(
  page: Page,
  run: string,
  name: string,
  ...shown: Locator[]
): Promise<void> {
  // What the editor blurs behind its boxes stays sharp where nothing has a GPU.
  await page.addStyleTag({
    content: ".quick-input-widget, .action-widget { background-color: #f8f8f8 !important }",
  });
  // Boxes grow and fade in; infinite animations can't be finished.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) {
        animation.finish();
      }
    }
  });
  const boxes = await Promise.all(shown.map((one) => one.first().boundingBox()));
  const seen = boxes.filter((box) => box !== null);
  const left = Math.max(0, Math.min(...seen.map(({ x }) => x)) - MARGIN);
  const top = Math.max(0, Math.min(...seen.map(({ y }) => y)) - MARGIN);
  const right = Math.max(...seen.map(({ x, width }) => x + width)) + MARGIN;
  const bottom = Math.max(...seen.map(({ y, height }) => y + height)) + MARGIN;
  const size = page.viewportSize() ?? { width: right, height: bottom };
  await page.screenshot({
    path: fileOf(run, name),
    clip: {
      x: left,
      y: top,
      width: Math.min(right, size.width) - left,
      height: Math.min(bottom, size.height) - top,
    },
  });
}

/** Do something in a window of another size, such as taking a picture without much that is empty. */
export async function sized<T>(
  page: Page,
  size: { width: number; height: number },
  run: () => Promise<T>,
): Promise<T> {
  const before = page.viewportSize();
  await page.setViewportSize(size);
  await page.waitForTimeout(800); // the editor lays its parts out anew
  try {
    return await run();
  } finally {
    if (before !== null) {
      await page.setViewportSize(before);
    }
  }
}

/** Do something while the chat fills a low window. */
export async function inWideChat(page: Page, run: () => Promise<void>): Promise<void> {
  await sized(page, { width: 860, height: 560 }, async () => {
    await page.locator(".part.auxiliarybar .codicon-auxiliarybar-maximize").first().click();
    await page.mouse.move(4, 300); // what it rests on would explain itself
    await page.waitForTimeout(800);
    await dismissHint(page);
    await run();
    await page.locator(".part.auxiliarybar .codicon-auxiliarybar-maximize").first().click();
  });
}

/** Dismiss what the editor says over the chat's input about models of its own. */
export async function dismissHint(page: Page): Promise<void> {
  const hint = page.locator(".chat-input-notification-dismiss:visible");
  if ((await hint.count()) > 0) {
    await hint.first().click();
    await page.waitForTimeout(300);
  }
}

function fileOf(run: string, name: string): string {
  return join(OUTPUT, run, `${name.replace(/[^a-z0-9]+/gi, "-").toLowerCase()}.png`);
}

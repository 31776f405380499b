// A person who clicks: each click is counted and pictured, and the page itself counts, too.

import type { BrowserContext, Locator, Page } from "playwright-core";
import { shoot } from "./screenshots.ts";

/** Have pages count their clicks, from the moment when they are opened. */
export async function countClicks(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const counted = globalThis as { clicks?: number };
    counted.clicks = 0;
    const count = ({ isTrusted }: Event) => {
      counted.clicks = (counted.clicks ?? 0) + (isTrusted ? 1 : 0);
    };
    document.addEventListener("pointerdown", count, true);
  });
}

export class Clicks {
  private readonly names: string[] = [];
  private readonly from = Date.now();
  private pictures = 0;

  constructor(
    private readonly page: Page,
    private readonly run: string,
    /** The number of the first picture, in its name. */
    private readonly first = 1,
  ) {}

  /** Click on something as soon as it is there, and keep a picture of what it looked like before. */
  async on(target: Locator, name: string): Promise<void> {
    await target.waitFor({ timeout: 120_000 });
    await this.picture(name);
    await target.click();
    this.names.push(name);
  }

  /** Keep a picture of the page, as soon as nothing fades in or out. */
  async picture(name: string): Promise<void> {
    const number = String(this.first + this.pictures++).padStart(2, "0");
    await this.page.evaluate(settled);
    await shoot(this.page, this.run, `${number} ${name}`);
  }

  /** What was clicked on, in order. */
  get done(): readonly string[] {
    return this.names;
  }

  get seconds(): number {
    return (Date.now() - this.from) / 1000;
  }

  /** Return how many clicks the page has seen since it was loaded, whoever made them. */
  seen(): Promise<number> {
    return this.page.evaluate(() => (globalThis as { clicks?: number }).clicks ?? 0);
  }
}

/** Wait until the page's animations are over, but for those that never end. */
async function settled(): Promise<void> {
  const ends = document
    .getAnimations()
    .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished);
  await Promise.race([Promise.allSettled(ends), new Promise((end) => setTimeout(end, 2_000))]);
}

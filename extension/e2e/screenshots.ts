// What the page looks like, kept in the output of a run.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { OUTPUT } from "./places.ts";

/** Keep a picture of the page, named after what it shows. */
export async function shoot(page: Page | undefined, run: string, name: string): Promise<void> {
  const file = `${name.replace(/[^a-z0-9]+/gi, "-").toLowerCase()}.png`;
  await page?.screenshot({ path: join(OUTPUT, run, file) });
}

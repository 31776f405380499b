// Draws the icon of the extension from its SVG: the Marketplace takes only a PNG. `npm run icon`

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./places.ts";

const SIZE = 256;
const at = (file: string) => fileURLToPath(new URL(`../media/${file}`, import.meta.url));

const browser = await chromium.launch({
  ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
  const svg = await readFile(at("icon.svg"), "utf8");
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
  await page.screenshot({ path: at("icon.png"), omitBackground: true });
} finally {
  await browser.close();
}

// The page of the extension in VS Code, as a person sees it before and after the installation.

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { shoot, sized } from "./screenshots.ts";

const RUN = "listing";
let editor: Editor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  editor = await Editor.start({ name: RUN });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  await new Chat(page).opened();
});

afterAll(async () => {
  await shoot(page, RUN, "end");
  await context?.close();
  await editor?.stop();
});

test("the page has the icon, the words of the listing and its README", async () => {
  await new Chat(page).command("Extensions: Show Installed Extensions");
  await page
    .locator(".extensions-list .monaco-list-row", { hasText: "Coding Agents in VS Code's Chat" })
    .first()
    .click();
  const listing = page.locator(".extension-editor");
  await listing.locator(".name", { hasText: "Coding Agents in VS Code's Chat" }).waitFor();
  const icon = listing.locator("img.icon").first();
  await expect
    .poll(() => icon.evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBe(256);
  await sized(page, { width: 1400, height: 1400 }, async () => {
    await page.waitForTimeout(3_000); // the README is drawn in a page of its own
    await shoot(page, RUN, "readme");
    await listing.locator(".action-label", { hasText: "Changelog" }).click();
    await page.waitForTimeout(2_000);
    await shoot(page, RUN, "changelog");
  });
});

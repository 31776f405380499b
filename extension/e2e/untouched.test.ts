// A stranger's first minute: an editor as it is after its installation, with nothing but the extension from
// its package, and nobody signed in. Nothing is preset: no setting but the theme, no storage, no list of models.

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Clicks, countClicks } from "./clicks.ts";
import { Editor } from "./editor.ts";
import { shoot } from "./screenshots.ts";

const RUN = "untouched";
/** Milliseconds: the program is installed from the package index, while others use the machine. */
const INSTALLED = 400_000;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  editor = await Editor.start({
    name: RUN,
    isUntouched: true,
    files: { "notes.txt": "Buy milk.\n" },
  });
  const presets = await readdir(join(editor.folder, "user/User"));
  expect(presets).not.toContain("chatLanguageModels.json");
  context = await openBrowser(editor);
  await countClicks(context);
});

afterAll(async () => {
  await shoot(page, RUN, "end");
  await context?.close();
  await editor?.stop();
});

test("without an account and without vscodelm, Eliza answers after four clicks", {
  timeout: INSTALLED,
}, async () => {
  page = await openWindow(context, editor);
  chat = new Chat(page);
  const clicks = new Clicks(page, RUN);
  const button = (place: string, hasText: string | RegExp) =>
    page.locator(`${place} .monaco-button`, { hasText });
  // The window opens in Restricted Mode, in which the extension does nothing.
  await clicks.on(page.locator(".part.banner a", { hasText: "Manage" }), "manage trust");
  await clicks.on(button(".workspace-trust-editor", /^Trust$/), "trust");
  const setUp = button(".getting-started-step", "Set Up the Chat");
  await setUp.waitFor({ timeout: 60_000 });
  await shoot(page, "untouched", "set up");
  await clicks.on(setUp, "set up");
  const question = page.locator(".monaco-dialog-box");
  await question.waitFor({ timeout: 60_000 });
  await shoot(page, "untouched", "install");
  expect(await question.textContent()).toContain("Install it for this extension?");
  await clicks.on(button(".monaco-dialog-box", "Install"), "install");
  expect(await chat.finished(INSTALLED)).toMatch(/[.?]$/);
  const { seconds } = clicks;
  await page.locator(".statusbar-item", { hasText: "Eliza has answered" }).waitFor();
  await clicks.picture("answered");
  expect(clicks.done).toHaveLength(4);
  expect(await clicks.seen()).toBe(clicks.done.length);
  const report = { clicks: clicks.done, seconds: Math.round(seconds) };
  console.log(`A stranger's first answer: ${JSON.stringify(report)}`);
  await writeFile(join(editor.folder, "first-answer.json"), JSON.stringify(report));
  const storage = join(editor.folder, "user/User/globalStorage/vscodelm.vscodelm");
  expect(await readdir(storage)).not.toContain("environment.lock");
});

test("the person goes on by typing, and no account is asked for", async () => {
  await page.keyboard.insertText("I am unhappy");
  await page.keyboard.press("Enter");
  await chat.shows("unhappy");
  expect(await chat.finished()).toMatch(/[.?]$/);
  expect(await page.locator(".monaco-dialog-box").count()).toBe(0);
});

test("the chat answers after the window was loaded anew", async () => {
  await chat.reload();
  await chat.newChat();
  await chat.choose("Eliza");
  expect(await chat.ask("Hello again")).toMatch(/[.?]$/);
  await shoot(page, RUN, "loaded anew");
});

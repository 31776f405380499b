// The first steps of a person: an editor with nothing but the extension, and then an answer.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { shoot } from "./screenshots.ts";

let editor: Editor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  editor = await Editor.start({ name: "first-steps", isFresh: true });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
});

afterAll(async () => {
  await shoot(page, "first-steps", "end");
  await context?.close();
  await editor?.stop();
});

test("without an account and without vscodelm, Eliza answers after two clicks", {
  timeout: 240_000,
}, async () => {
  const chat = new Chat(page);
  await chat.command("vscodelm: Use the Chat Without a GitHub Account");
  await chat.opened();
  await chat.choose("Eliza");
  await chat.send("Hello");
  const question = page.locator(".monaco-dialog-box");
  await question.waitFor({ timeout: 60_000 });
  await shoot(page, "first-steps", "install");
  expect(await question.textContent()).toContain("Install it for this extension?");
  await question.locator(".monaco-button", { hasText: "Install" }).click();
  expect(await chat.finished(180_000)).toMatch(/[.?]$/);
  const storage = join(editor.folder, "user/User/globalStorage/vscodelm.vscodelm");
  expect(await readdir(join(storage, "environments"))).toHaveLength(1);
  expect(await readdir(storage)).toContain("environment.json");
  expect(await readdir(storage)).not.toContain("environment.lock");
});

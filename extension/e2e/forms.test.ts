// Questions of an agent while it answers: a form that is filled in, and a page that is opened.

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Clicks } from "./clicks.ts";
import { Editor } from "./editor.ts";
import { E2E, OUTPUT } from "./places.ts";
import { crop, shoot } from "./screenshots.ts";

const NAME = "forms";
const program = join(OUTPUT, "forms-program");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let clicks: Clicks;

beforeAll(async () => {
  await mkdir(OUTPUT, { recursive: true });
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(E2E, "asking.mjs")}'\n`);
  await chmod(program, 0o755);
  editor = await Editor.start({
    name: NAME,
    settings: {
      "vscodelm.agents": { eliza: { agent: { eliza: {} } } },
      "vscodelm.path": program,
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  clicks = new Clicks(page, NAME);
  await chat.opened();
  await chat.choose("Eliza");
});

afterEach(({ task }) => shoot(page, NAME, task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a form is filled in field by field, with a way back", async () => {
  await chat.send("ask me all");
  await box("Eliza asks: Your name (1/6)").waitFor();
  await crop(page, "forms", "form", page.locator(".quick-input-widget"));
  await page.keyboard.type("A");
  await page.keyboard.press("Enter");
  await box("At least 2 characters").waitFor();
  await clicks.picture("a name that is too short");
  await page.keyboard.type("da");
  await page.keyboard.press("Enter");
  await box("Your mood (optional) (2/6)").waitFor();
  await clicks.on(button("Back"), "one of several");
  await box("Your name").waitFor();
  expect(await widget().locator("input:visible").last().inputValue()).toBe("Ada");
  await clicks.picture("the name again");
  await page.keyboard.press("Enter");
  await clicks.on(row("Good"), "one of several again");
  await box("Topics (3/6)").waitFor();
  await clicks.on(row("Dreams"), "some of several");
  await row("Work").click();
  await clicks.on(widget().locator(".monaco-button", { hasText: "OK" }), "two are chosen");
  await box("Hours of sleep (optional) (4/6)").waitFor();
  await clicks.picture("a number");
  await page.keyboard.type("25");
  await box("A whole number from 0 to 24 is needed.").waitFor();
  await widget().locator("input:visible").last().fill("7");
  await page.keyboard.press("Enter");
  await box("Email (optional) (5/6)").waitFor();
  await clicks.picture("an email address");
  await page.keyboard.press("Enter");
  await clicks.on(row("No"), "yes or no");
  const content = { name: "Ada", mood: "good", topics: ["Dreams", "Work"], hours: 7, again: false };
  await answered({ action: "accept", content });
});

test("a form can be declined", async () => {
  await chat.send("ask my name");
  await box("Eliza asks: Your name").waitFor();
  await clicks.on(button("Decline to answer"), "decline");
  await answered({ action: "decline" });
});

test("Escape makes no choice", async () => {
  await chat.send("ask my name");
  await box("Eliza asks: Your name").waitFor();
  await page.keyboard.press("Escape");
  await answered({ action: "cancel" });
});

test("a form closes when the chat is stopped", async () => {
  await chat.send("ask my name");
  await box("Eliza asks: Your name").waitFor();
  await clicks.on(chat.stopButton, "stop");
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  await chat.stopButton.waitFor({ state: "hidden" });
});

test("no text of an agent becomes a link or an icon", async () => {
  await chat.send("ask oddly");
  await box("Eliza asks:").waitFor();
  await clicks.picture("odd texts");
  expect(await widget().locator("a[href], .codicon-sync").count()).toBe(0);
  const shown = ((await widget().textContent()) ?? "").replaceAll("\u00a0", " ");
  expect(shown.match(/\[Click here\]\u200b\(command:\S+\) for \$\(sync\)/g)).toHaveLength(5);
  await row("Click here").click();
  await answered({ action: "accept", content: { odd: "odd" } });
});

test("a form without fields asks for a yes", async () => {
  await chat.send("ask for a yes");
  await box("Eliza asks you to confirm").waitFor();
  await page.keyboard.press("Enter"); // meant for something else
  await page.waitForTimeout(500);
  await clicks.on(row("Accept"), "a yes");
  await answered({ action: "accept", content: {} });
});

test("a page is opened after its host was shown", async () => {
  const asked: string[] = [];
  await context.route("https://diary.example.org/**", async (route) => {
    asked.push(route.request().url());
    await route.fulfill({ body: "Welcome to your diary." });
  });
  await chat.send("ask for a page");
  await box("Eliza asks you to open a page").waitFor();
  await clicks.on(row("Open diary.example.org"), "a page");
  const dialog = page.locator(".monaco-dialog-box .monaco-button", { hasText: /^Open$/ });
  const opening = context.waitForEvent("page");
  await clicks.on(dialog, "the editor asks too");
  const opened = await opening;
  expect(await opened.textContent("body")).toBe("Welcome to your diary.");
  await opened.close();
  expect(asked[0]).toBe(
    "https://diary.example.org/login?redirect_uri=http%3A%2F%2Flocalhost%3A1%2F&state=a%26b",
  );
  await answered({ action: "accept" });
});

test("a page that the editor shouldn't open is opened elsewhere", async () => {
  await chat.send("ask for a page");
  await clicks.on(row("Open diary.example.org"), "the page again");
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Cancel" }).click();
  await clicks.on(row("Copy the address"), "it wasn't opened");
  await clicks.on(row("I have opened the page"), "its address was copied");
  await answered({ action: "accept" });
});

async function answered(result: object): Promise<void> {
  expect(await chat.finished()).toBe(`The answer: ${JSON.stringify(result)}`);
}

function widget(): Locator {
  return page.locator(".quick-input-widget:visible");
}

/** The box with this title. */
function box(title: string): Locator {
  return widget().filter({ hasText: title });
}

function row(label: string): Locator {
  return widget().locator(".monaco-list-row", { hasText: label }).first();
}

function button(name: string): Locator {
  return widget().locator(`.action-label[aria-label^="${name}"]`);
}

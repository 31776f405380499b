// What the agents know, as a person sees it in the editor: a page of the chats that run, and the report of a problem.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, FrameLocator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { crop, dismissHint, shoot, sized } from "./screenshots.ts";

const NAME = "inspection";
/** A window without much that is empty. */
const LOW = { width: 1400, height: 780 };
const agents = join(OUTPUT, "inspection-agents");
const agent = new ScriptedAgent(agents, "agent");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let drawing: FrameLocator;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: NAME,
    settings: {
      "vscodelm.agents": {
        eliza: { agent: { eliza: { deterministic: true } } },
        scripted: await agent.model({
          words: { slow: [{ say: "once upon a time " }, { hang: true }] },
          otherwise: [{ say: "Yes, " }, { say: "<b>indeed</b>." }],
        }),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  drawing = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
  await chat.opened();
});

afterEach(({ task }) => shoot(page, NAME, task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

async function command(title: string): Promise<void> {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(`>vscodelm: ${title}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
}

const row = (text: string) => drawing.locator("button.row", { hasText: text });

test("the page draws the chats that run, with an edit and a stop", async () => {
  await chat.choose("Scripted agent");
  await chat.ask("What is new?");
  await chat.ask("And what is <i>old</i>?");
  await chat.edit("And what is <i>old</i>?", "And what is blue?");
  await chat.send("slow");
  await chat.shows("once upon");
  await command("Show What the Agent Knows");
  await row("What is new?").waitFor();
  expect(await row("slow").textContent()).toContain("is answered");
  await chat.stopButton.click();
  await row("slow").filter({ hasText: "cancelled" }).waitFor();
  expect(await row("What is new?").first().textContent()).toContain("new");
  await row("And what is blue?").click();
  const about = drawing.locator("#about");
  await about.getByText("Its session must not know:").waitFor();
  expect(await about.locator("s").textContent()).toBe("And what is <i>old</i>?");
  expect(await about.textContent()).toContain("<b>indeed</b>");
  expect(await about.textContent()).toMatch(/in process \d+/);
});

test("a new request comes by itself, and the choice stays", async () => {
  await chat.ask("One thing more");
  await row("One thing more").waitFor();
  expect(await drawing.locator(".row.chosen").textContent()).toContain("And what is blue?");
  await dismissHint(page);
  const shown = [".part.editor", ".part.auxiliarybar"].map((part) => page.locator(part));
  await sized(page, LOW, () => crop(page, "inspection", "knowledge", ...shown));
});

test("it follows a dark theme", async () => {
  await editor.setting("workbench.colorTheme", "Default Dark Modern");
  await drawing.locator("body.vscode-dark").waitFor();
});

test("a report of a problem is a document that the user reads first", async () => {
  await command("Report a Problem");
  const text = page.locator(".part.editor .monaco-editor .view-lines").last();
  await text.getByText("A problem with vscodelm").waitFor({ timeout: 120_000 });
  const read = async () => ((await text.textContent()) ?? "").replaceAll("\u00a0", " ");
  expect(await read()).toContain("Nothing was sent.");
  expect(await read()).toMatch(/- vscodelm: \d/);
  expect(await read()).not.toContain("What is new?");
  await page.locator(".tab", { hasText: "Untitled-1" }).waitFor();
});

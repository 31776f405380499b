// A stranger's first minute: an editor as it is after its installation, with nothing but the extension from
// its package, and nobody signed in. Nothing is preset: no setting but the theme, no storage, no list of models.

import { access, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { ClaudeModel } from "./claude.ts";
import { Clicks, countClicks } from "./clicks.ts";
import { Editor } from "./editor.ts";
import { shoot } from "./screenshots.ts";

const RUN = "untouched";
/** Milliseconds: the program is installed from the package index, while others use the machine. */
const INSTALLED = 400_000;
/** Milliseconds in which a downloaded agent must have answered. */
const DOWNLOADED = 300_000;
const KEY = "sk-ant-typed-by-a-person";
let model: ClaudeModel;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  model = await ClaudeModel.start(RUN);
  editor = await Editor.start({
    name: RUN,
    isUntouched: true,
    env: model.env,
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
  await rm(join(editor.folder, "home/.npm"), { recursive: true, force: true });
  await model?.stop();
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
  // The editor may put an empty chat in the place of one that is begun while its extensions are activated.
  await page.locator(".getting-started-step").first().waitFor();
  await page.waitForTimeout(10_000);
  await chat.newChat();
  await chat.choose("Eliza");
  expect(await chat.ask("Hello again")).toMatch(/[.?]$/);
  await shoot(page, RUN, "loaded anew");
});

// Whatever a person waits for counts, the agent's download (about 580 MB on disk), too; its part is told in the
// report. The model's answers are scripted, and the test doesn't stop to read: a person does.
test("in three minutes Claude Code is added with a key, asks, and does what is allowed", {
  timeout: INSTALLED,
}, async () => {
  const clicks = new Clicks(page, RUN, 6);
  const before = await clicks.seen();
  const steps = page.locator(".getting-started-step");
  await clicks.on(steps.filter({ hasText: "Add an agent" }), "add step");
  // A moment after it was clicked on, the step takes the focus, and a list that is open then would close.
  await page.waitForTimeout(1_000);
  await clicks.on(steps.locator(".monaco-button", { hasText: "Add Agent" }), "add agent");
  const row = page.locator(".quick-input-list .monaco-list-row");
  await clicks.on(row.filter({ hasText: "Claude Code" }).first(), "claude");
  await type(page, "The model's name");
  await type(page, "The model's id in the settings");
  await clicks.on(row.filter({ hasText: "A key (ANTHROPIC_API_KEY)..." }), "a key");
  await page.locator(".quick-input-title", { hasText: "The key (ANTHROPIC_API_KEY)" }).waitFor();
  await clicks.picture("key");
  await type(page, "The key (ANTHROPIC_API_KEY)", KEY);
  await toast('"Claude Code" is among the models').waitFor();
  await clicks.picture("added");
  chat = new Chat(page, VIEW, DOWNLOADED);
  await chat.newChat();
  await chat.choose("Claude Code");
  await chat.send("WRITE(allowed.txt)");
  const sent = clicks.seconds;
  const fetching = toast(/Fetching Claude Code \d+\.\d+\.\d+/);
  await fetching.filter({ hasText: /\d+ MB, \d+ s/ }).waitFor();
  await clicks.picture("fetching");
  await fetching.waitFor({ state: "detached", timeout: DOWNLOADED });
  const fetched = clicks.seconds;
  await chat.question.waitFor({ timeout: DOWNLOADED });
  const [command] = await chat.question.locator(".view-lines").allTextContents();
  expect(command?.replaceAll("\u00a0", " ")).toBe("touch allowed.txt");
  await expect(access(join(editor.workspace, "allowed.txt"))).rejects.toThrow("ENOENT");
  await clicks.on(chat.question.locator(".monaco-button", { hasText: "Allow Once" }), "allow");
  await chat.finished();
  const { seconds } = clicks;
  await expect.poll(() => access(join(editor.workspace, "allowed.txt")), SAVED).toBeUndefined();
  await page.locator(".explorer-folders-view", { hasText: "allowed.txt" }).waitFor();
  await clicks.picture("done");
  const keys = await model.keys("WRITE");
  expect(new Set(keys)).toEqual(new Set([KEY]));
  const report = {
    clicks: (await clicks.seen()) - before,
    seconds: Math.round(seconds),
    secondsOfFetching: Math.round(fetched - sent),
  };
  console.log(`Claude Code, from its addition to what it was allowed: ${JSON.stringify(report)}`);
  await writeFile(join(editor.folder, "claude-code.json"), JSON.stringify(report));
  expect(seconds).toBeLessThan(180);
});

function toast(hasText: string | RegExp) {
  return page.locator(".notification-toast", { hasText });
}

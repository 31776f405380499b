// A stranger's first minute: an editor as it is after its installation, with nothing but the extension from
// its package, and nobody signed in. Nothing is preset: no setting but the theme, no storage, no list of models.

import { access, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pick, type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { ClaudeModel } from "./claude.ts";
import { Clicks, countClicks } from "./clicks.ts";
import { Editor } from "./editor.ts";
import { crop, inWideChat, shoot, sized } from "./screenshots.ts";

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
  await crop(page, "untouched", "set up", ...walkthrough());
  await clicks.on(setUp, "set up");
  const question = page.locator(".monaco-dialog-box");
  await question.waitFor({ timeout: 60_000 });
  await crop(page, "untouched", "install", question);
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
  await inWideChat(page, () => crop(page, "untouched", "eliza", page.locator(VIEW)));
  await expect.poll(() => ticked(), SAVED).toEqual(["chat", "eliza"]);
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
  await clicks.on(steps.filter({ hasText: "Add your agent" }), "add step");
  // A moment after it was clicked on, the step takes the focus, and a list that is open then would close.
  await page.waitForTimeout(1_000);
  await clicks.on(steps.locator(".monaco-button", { hasText: "Add Agent" }), "add agent");
  const row = page.locator(".quick-input-list .monaco-list-row");
  await row.first().waitFor();
  await page.waitForTimeout(500); // it fades in
  await crop(page, "untouched", "add agent", page.locator(".quick-input-widget"));
  await clicks.on(row.filter({ hasText: "Claude Code" }).first(), "claude");
  await type(page, "The model's name");
  await type(page, "The model's id in the settings");
  await clicks.on(row.filter({ hasText: "A key (ANTHROPIC_API_KEY)..." }), "a key");
  await page.locator(".quick-input-title", { hasText: "The key (ANTHROPIC_API_KEY)" }).waitFor();
  await clicks.picture("key");
  await type(page, "The key (ANTHROPIC_API_KEY)", KEY);
  await toast('"Claude Code" is among the models now, and a new chat').waitFor();
  await clicks.picture("added");
  chat = new Chat(page, VIEW, DOWNLOADED);
  await chat.picker.filter({ hasText: "Claude Code" }).waitFor(); // nobody has chosen it
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
  await inWideChat(page, () => crop(page, "untouched", "agent asks", page.locator(VIEW)));
  await clicks.on(chat.question.locator(".monaco-button", { hasText: "Allow Once" }), "allow");
  await chat.finished();
  const { seconds } = clicks;
  await expect.poll(() => access(join(editor.workspace, "allowed.txt")), SAVED).toBeUndefined();
  await page.locator(".explorer-folders-view", { hasText: "allowed.txt" }).waitFor();
  await clicks.picture("done");
  await inWideChat(page, () => crop(page, "untouched", "done", page.locator(VIEW)));
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

test("the walkthrough lets Eliza ask, and leads to the doctor and to all commands", async () => {
  await openStep("Let it ask");
  await button("Let Eliza Ask").click();
  await chat.question.waitFor();
  await crop(page, "untouched", "eliza asks", page.locator(VIEW));
  await chat.question.locator(".monaco-button", { hasText: "Skip" }).click();
  await chat.finished();
  await openStep("Get help");
  await button("Run the Doctor").click();
  await pick(page, "eliza");
  await page
    .locator(".editor-instance", { hasText: "can be used" })
    .first()
    .waitFor({ timeout: 60_000 });
  await sized(page, LOW, () => crop(page, "untouched", "doctor", page.locator(".part.editor")));
  await openStep("Get help");
  await expect.poll(() => ticked(), SAVED).toEqual(["chat", "eliza", "agent", "ask", "help"]);
  await page.locator(".getting-started-step a", { hasText: "one list" }).click();
  await page.locator(".quick-input-widget:visible", { hasText: "Manage vscodelm" }).waitFor();
  await crop(page, "untouched", "menu", page.locator(".quick-input-widget"));
  await page.keyboard.press("Escape");
});

test("each step of the walkthrough has its picture", async () => {
  await sized(page, { width: 2000, height: 900 }, async () => {
    for (const title of STEPS) {
      await openStep(title);
      const picture = page.locator(".getting-started-media iframe");
      await picture.waitFor();
      await page.waitForTimeout(1_500); // it is drawn in a page of its own
      await shoot(page, RUN, `step ${title}`);
    }
  });
});

test("the editor's page of models lists vscodelm, whose gear and Add Models lead to it", async () => {
  await chat.newChat();
  await chat.picker.click();
  await page.locator(".action-widget .monaco-list-row", { hasText: "Claude Code" }).waitFor();
  await page.waitForTimeout(500); // it fades in
  await crop(page, "untouched", "picker", page.locator(".action-widget"), chat.picker);
  await page.keyboard.press("Escape");
  await chat.command("Chat: Manage Language Models");
  const add = page
    .locator(".models-add-model-button .monaco-button, .models-add-model-button")
    .first();
  await add.waitFor();
  await page
    .locator(".models-model-row, .monaco-table .monaco-list-row", { hasText: "Eliza" })
    .first()
    .waitFor();
  await shoot(page, RUN, "page of models");
  await add.click();
  await page.waitForTimeout(500); // a menu that has just opened takes no click
  await page.locator(".context-view .action-item:visible", { hasText: "vscodelm" }).click();
  await page
    .locator(".quick-input-widget:visible", { hasText: "Add an agent as a model" })
    .waitFor();
  await shoot(page, RUN, "add models");
  await page.keyboard.press("Escape");
});

const STEPS = [
  "Install vscodelm, and switch the chat on",
  "Say hello to Eliza",
  "Add your agent",
  "Let it ask",
  "Get help",
];

/** A window without much that is empty. */
const LOW = { width: 1400, height: 430 };

/** Return what is to be seen in a picture of the walkthrough. */
function walkthrough() {
  const steps = page.locator(".getting-started-step");
  return [
    page.locator("h2:visible", { hasText: "Agents in VS Code" }),
    steps.first(),
    steps.last(),
  ];
}

function button(hasText: string) {
  return page.locator(".getting-started-step .monaco-button", { hasText });
}

/** Open the walkthrough, and a step in it. */
async function openStep(title: string): Promise<void> {
  const step = page.locator(".getting-started-step", { hasText: title });
  if (!(await step.isVisible())) {
    await page.locator(".tab", { hasText: "Welcome" }).first().click();
  }
  if ((await step.getAttribute("aria-expanded")) !== "true") {
    await step.locator(".step-title").click();
  }
  await page.waitForTimeout(1_000); // it takes the focus a moment later
}

/** Return the ids of the steps that are ticked. */
async function ticked(): Promise<string[]> {
  const done = page.locator('.getting-started-step[aria-checked="true"]');
  const ids = await done.evaluateAll((all) => all.map((one) => one.getAttribute("data-step-id")));
  return ids.map((id) => id?.split("#").at(-1) ?? "");
}

function toast(hasText: string | RegExp) {
  return page.locator(".notification-toast", { hasText });
}

// The agent's own controls: its models, efforts and commands, and the folders of the window.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Heard, ScriptedAgent } from "./agent.ts";
import { pick } from "./boxes.ts";
import { ADDRESS, openBrowser } from "./browser.ts";
import { Chat, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { Log } from "./log.ts";
import { OUTPUT } from "./places.ts";
import { crop, dismissHint, shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

const agents = join(OUTPUT, "choices-agents");
const agent = new ScriptedAgent(agents, "agent");
const workspace = join(OUTPUT, "choices/two.code-workspace");
const [first, second, third] = ["workspace", "second", "third"].map((name) =>
  join(OUTPUT, "choices", name),
) as [string, string, string];
const storage = join(OUTPUT, "choices/user/User/chatLanguageModels.json");
const log = new Log("choices");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let traces: Traces;

type Values = [value: string, name: string, description: string][];

function select(id: string, category: string, name: string, values: Values) {
  const options = values.map(([value, name, description]) => ({ value, name, description }));
  return { type: "select", id, category, name, currentValue: values[0]?.[0], options };
}

const MODEL = select("model", "model", "Model", [
  ["swift", "Swift", "Answers at once"],
  ["deep", "Deep", "Thinks before it answers"],
]);
const MODE = select("mode", "mode", "Mode", [
  ["default", "Default", "Asks before it acts"],
  ["plan", "Plan", "Only makes plans"],
]);
const EFFORT = select("effort", "thought_level", "Effort", [
  ["low", "Low", "Thinks little"],
  ["high", "High", "Thinks much"],
]);
const COMMANDS = {
  sessionUpdate: "available_commands_update",
  availableCommands: [
    { name: "review", description: "Review the changes", input: { hint: "of which branch" } },
    { name: "init", description: "Write notes about the project" },
  ],
};
const USAGE = {
  sessionUpdate: "usage_update",
  used: 64_000,
  size: 200_000,
  cost: { amount: 0.12, currency: "USD" },
};

beforeAll(async () => {
  for (const folder of [agents, second, third]) {
    await rm(folder, { recursive: true, force: true });
  }
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: "choices",
    env: log.env,
    prepare: log.prepare,
    settings: {
      "vscodelm.agents": {
        scripted: await agent.model({
          agent: {
            agentCapabilities: {
              loadSession: true,
              sessionCapabilities: { close: {}, resume: {}, additionalDirectories: {} },
            },
          },
          session: { configOptions: [MODEL, MODE, EFFORT] },
          words: {
            hello: [{ update: COMMANDS }, { update: USAGE }, { say: "Hello." }],
            "/review main": [{ say: "It looks good." }],
            "what do you remember?": [{ memory: true }],
          },
        }),
      },
    },
  });
  traces = new Traces(editor);
  await mkdir(second);
  await mkdir(third);
  await foldersAre(first, second);
  context = await openBrowser(editor);
  page = context.pages()[0] as Page;
  await page.goto(`${ADDRESS}/?workspace=${encodeURIComponent(workspace)}`, {
    waitUntil: "domcontentloaded",
  });
  chat = new Chat(page);
  await chat.opened();
  await chat.resize(450);
  await chat.choose("Scripted agent");
});

afterEach(({ task }) => shoot(page, "choices", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("the agent gets both folders of the window, and its commands are named", async () => {
  const answer = await chat.ask("hello");
  expect(answer).toContain("Hello.");
  expect(answer).toContain("/review");
  const [opened] = await told("session/new");
  expect(opened?.params).toMatchObject({ cwd: first, additionalDirectories: [second] });
});

test("a model and an effort are chosen beside the model, and go to the agent once", async () => {
  await dismissHint(page);
  await button().click();
  await page.locator(".action-widget .monaco-list-row", { hasText: "Deep" }).waitFor();
  await page.waitForTimeout(500); // it fades in
  const input = page.locator(`${VIEW} .interactive-input-part`);
  await crop(page, "choices", "efforts and models", page.locator(".action-widget"), input);
  await page.keyboard.press("Escape");
  await choose("Deep", { model: "deep" });
  await choose("High", { model: "deep", reasoningEffort: "high" });
  expect(await chat.ask("what do you remember?")).toContain("hello");
  await chat.ask("again");
  expect(await changes()).toEqual(["model=deep", "effort=high"]);
  const methods = (await agent.heard()).map(({ method }) => method);
  expect(methods.lastIndexOf("session/set_config_option")).toBeLessThan(
    methods.indexOf("session/prompt", methods.indexOf("session/prompt") + 1),
  );
});

test("they are chosen back, in the same session", async () => {
  await choose("Swift", { reasoningEffort: "high" });
  await choose("Low", {});
  await chat.ask("once more");
  expect(await changes()).toEqual(["model=deep", "effort=high", "model=swift", "effort=low"]);
  const prompts = await agent.prompts();
  expect(new Set(prompts.map(({ session }) => session)).size).toBe(1);
  expect(prompts.map(({ texts }) => texts.at(-1))).toEqual([
    ...["hello", "what do you remember?", "again", "once more"],
  ]);
});

test("a mode is chosen in the list of models", async () => {
  await chooseInList("Mode", "Plan", "list of models");
  await chat.ask("with a plan");
  expect((await changes()).at(-1)).toBe("mode=plan");
});

test("a command goes to the agent as it is typed", async () => {
  expect(await chat.ask("/review main")).toContain("It looks good.");
  expect((await agent.prompts()).at(-1)?.texts.at(-1)).toBe("/review main");
});

test("a command is put into the chat", async () => {
  await chat.command("vscodelm: Insert an Agent's Command...");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "/review" }).waitFor();
  await shoot(page, "choices", "list of commands");
  await pick(page, "/review");
  await chat.input.filter({ hasText: "/review" }).waitFor();
  await chat.input.click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
});

test("the statistics say what the chat has used", async () => {
  await chat.command("vscodelm: Show Statistics");
  const used = "64K of 200K tokens in its context, 0.12 USD so far";
  await expect.poll(() => log.text(), { timeout: 20_000 }).toContain(used);
});

test("beside the language of a text the status bar says what the newest answer has used", async () => {
  await chat.command("File: New Untitled Text File");
  const item = page.locator(".statusbar-item[id='status.languageStatus']");
  await item.waitFor();
  await item.hover();
  const hover = page.locator(".monaco-hover:visible", { hasText: "Scripted agent" });
  await hover.waitFor();
  await crop(page, "choices", "usage", hover, item);
  expect(await hover.textContent()).toContain("64K of 200K tokens in its context");
});

test("a folder that is added counts for a new chat", async () => {
  await foldersAre(first, second, third);
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "third" }).waitFor();
  await chat.newChat();
  await chat.ask("hello");
  const opened = (await told("session/new")).at(-1);
  expect(opened?.params).toMatchObject({ cwd: first, additionalDirectories: [second, third] });
  expect(await agent.faults()).toEqual([]);
});

test("a stricter setting counts at once, in this chat and after the window was loaded anew", {
  timeout: 150_000,
}, async () => {
  await chat.ask("again");
  expect(await permissions()).toEqual(["ask", "ask"]);
  await chooseInSettings("permissions", "read_only");
  await chat.ask("more strictly");
  expect(await permissions()).toEqual(["read_only", "read_only"]);
  await editor.keeps(/more strictly/);
  await chat.reload();
  await chat.ask("once more");
  expect(await permissions()).toEqual(["read_only", "read_only"]);
  expect((await traces.sessions()).at(-1)).toContain("session/resume");
  await chooseInList("Permissions", "Ask", "list of permissions");
  await chat.ask("as I choose");
  expect(await permissions()).toEqual(["read_only", "ask"]);
});

/** The button beside the model; the first of its choices is the effort. */
function button(): Locator {
  const label = '[aria-label^="Effort: "]';
  return page.locator(`.part.auxiliarybar .interactive-input-part ${label}`);
}

/** Choose one of the values that are beside the model, by its name. Wait until the editor has stored all
 * choices that aren't the default: it loses one if the next is made before. */
async function choose(name: string, stored: Record<string, string>): Promise<void> {
  await button().click();
  const row = page.locator(".action-widget .monaco-list-row", { hasText: name });
  await row.first().click();
  await page.keyboard.press("Escape");
  await button().filter({ hasText: name }).waitFor();
  await expect.poll(settings, { timeout: 10_000 }).toEqual(stored);
}

/** Choose a value in the list of models, and show the menu as it was open. */
async function chooseInList(title: string, name: string, picture: string): Promise<void> {
  await chat.command("Chat: Manage Language Models");
  const row = page.locator(".models-model-row", { hasText: "Scripted agent" });
  await row.hover();
  await row.getByLabel("More Actions...").click();
  const items = page.locator(".monaco-menu .action-item");
  const exactly = (text: string) => items.filter({ hasText: new RegExp(`^${text}$`) });
  await exactly(title).first().hover();
  await exactly(name).waitFor();
  await shoot(page, "choices", picture);
  await exactly(name).click();
  await page.locator(".modal-editor-part .codicon-close").first().click();
  await page.locator(".models-widget").waitFor({ state: "detached" });
}

/** Choose a value of one of our settings, on the editor's page of settings. */
async function chooseInSettings(key: string, value: string): Promise<void> {
  await chat.command("Preferences: Open User Settings");
  const settings = page.locator(".settings-editor");
  await settings.locator(".search-container .monaco-editor").click();
  await page.keyboard.type(`@id:vscodelm.${key}`);
  await settings.getByText("1 Setting Found").waitFor();
  await settings.locator(".setting-item-enum .monaco-select-box").click();
  await page
    .locator(".monaco-select-box-dropdown-container .monaco-list-row", { hasText: value })
    .click();
  const written = () => readFile(join(editor.folder, "user/User/settings.json"), "utf8");
  await expect.poll(written, { timeout: 10_000 }).toContain(`"vscodelm.${key}": "${value}"`);
  await shoot(page, "choices", "settings");
  await page.locator(".modal-editor-part .codicon-close").first().click();
  await settings.waitFor({ state: "detached" });
}

async function settings(): Promise<unknown> {
  const [group] = JSON.parse(await readFile(storage, "utf8"));
  return group?.settings?.scripted ?? {}; // it stores nothing where all are the default
}

/** Return the permissions of the newest request: those of the settings, and those that are chosen beside the model. */
async function permissions(): Promise<unknown[]> {
  const newest = (await traces.requestsTo("scripted")).at(-1);
  const { modelConfiguration } = newest?.options ?? {};
  return [newest?.settings?.permissions, modelConfiguration?.permissions];
}

function foldersAre(...folders: string[]): Promise<void> {
  return writeFile(workspace, JSON.stringify({ folders: folders.map((path) => ({ path })) }));
}

async function told(method: string): Promise<Heard[]> {
  return (await agent.heard()).filter((heard) => heard.method === method);
}

async function changes(): Promise<string[]> {
  const all = await told("session/set_config_option");
  return all.map(({ params }) => `${params?.configId}=${params?.value}`);
}

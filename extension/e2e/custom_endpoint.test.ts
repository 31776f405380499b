// VS Code alone, as it is after its installation, without our extension and without an account: a person
// adds `vscodelm serve-http` to its models as a custom endpoint, as docs/how-to/serve-http.md says.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { pick, type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT, REPOSITORY } from "./places.ts";
import { crop, dismissHint, shoot, sized } from "./screenshots.ts";
import { HttpServer } from "./serve_http.ts";

const RUN = "custom-endpoint";
const NAME = "Scripted over HTTP";
const PASTED = "Scripted and pasted";
/** How VS Code names a key that it keeps elsewhere. */
const SECRET = /^\$\{input:chat\.lm\.secret\.-?[0-9a-f]+\}$/;
const folder = join(OUTPUT, `${RUN}-server`);
const notes = join(OUTPUT, RUN, "workspace/notes.txt");
const agent = new ScriptedAgent(OUTPUT, `${RUN}-agent`);
const guide = join(REPOSITORY, "docs/how-to/serve-http.md");
let server: HttpServer;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  await rm(join(OUTPUT, `${RUN}-agent.jsonl`), { force: true });
  const scripted = await agent.model({
    words: {
      hello: [{ say: "Hello over HTTP." }],
      "what do you remember?": [{ memory: true }],
      "read my notes": [
        { say: "Let me look." },
        { call: "read_file", with: { filePath: notes, startLine: 1, endLine: 1 }, as: "notes" },
        { gather: true },
        { results: true },
      ],
    },
  });
  server = await HttpServer.start(folder, "agent", (scripted as { agent: object }).agent);
  editor = await Editor.start({
    name: RUN,
    isUntouched: true,
    prepare: removeAll,
    files: { "notes.txt": "Buy milk.\n" },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
});

afterEach(({ task }) => shoot(page, RUN, task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await server?.stop();
});

test("a server is added as a custom endpoint, and its token is typed in a dialog", async () => {
  await trust();
  await chat.command("Chat: Manage Language Models");
  await chooseVendor("Custom Endpoint");
  await type(page, "Group Name", "My agents");
  await typeKey("My agents");
  const box = page.locator(".quick-input-widget:visible", { hasText: "My agents: API Type" });
  await box.waitFor();
  await crop(page, RUN, "type", box);
  await pick(page, "Responses");
  const file = page.locator(".modal-editor-part", { hasText: "chatLanguageModels.json" });
  await file.locator(".snippet-placeholder").first().waitFor({ state: "attached" });
  for (const typed of ["agent", NAME, `${server.url}/responses`]) {
    await page.keyboard.insertText(typed);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Tab"); // it has tools already
  await page.keyboard.insertText("false"); // it takes no images
  await page.keyboard.press("End"); // what the editor proposes would lie over the picture
  await page.keyboard.press("Control+S");
  await expect
    .poll(() => written(), SAVED)
    .toEqual([
      { ...(await entryOfTheGuide("My agents", NAME)), apiKey: expect.stringMatching(SECRET) },
    ]);
  await sized(page, { width: 1000, height: 640 }, () => crop(page, RUN, "file", file));
  await closeModal();
});

test("its model answers in the chat, and nobody is asked for an account", async () => {
  await chat.reload(); // code-server doesn't notice that the file has changed
  await chat.choose(NAME);
  expect(await chat.ask("hello")).toBe("Hello over HTTP.");
  expect(await page.locator(".monaco-dialog-box").count()).toBe(0);
});

test("its agent reads a file with the editor's tool, and keeps its session", async () => {
  const answer = await chat.ask("read my notes");
  expect(answer).toContain("Read notes.txt");
  expect(answer).toContain("notes=Buy milk.");
  expect(await chat.ask("what do you remember?")).toBe(
    "hello / read my notes / what do you remember?",
  );
  const prompts = await agent.prompts();
  expect(new Set(prompts.map(({ session }) => session)).size).toBe(1);
  expect(prompts.map(({ texts }) => texts)).toEqual([
    ["hello"],
    ["read my notes"],
    ["what do you remember?"],
  ]);
  expect(await agent.faults()).toEqual([]);
  await chat.resize(450);
  await dismissHint(page);
  await sized(page, { width: 1400, height: 640 }, () =>
    crop(page, RUN, "chat", page.locator(VIEW)),
  );
});

test("an entry that is pasted has no key, so it is refused in words until it gets one", async () => {
  const group = await entryOfTheGuide("Pasted", PASTED);
  await writeFile(list(), JSON.stringify([...(await written()), group]));
  await chat.reload();
  await chat.choose(PASTED);
  expect(await chat.ask("hello")).toContain("must have the server's token");
  await chat.command("Chat: Manage Language Models");
  const row = page.locator(".models-widget .monaco-list-row", { hasText: /^Pasted$/ });
  await row.hover();
  await row.getByLabel("More Actions...").click();
  await page.waitForTimeout(500); // a menu that has just opened takes no click
  const menu = page.locator(".monaco-menu:visible");
  await crop(page, RUN, "gear", row, menu);
  await menu.locator(".action-item", { hasText: "Update API Key" }).click();
  await typeKey("Pasted");
  await expect.poll(async () => (await written())[1]?.apiKey, SAVED).toMatch(SECRET);
  await closeModal();
  await chat.newChat();
  expect(await chat.ask("hello")).toBe("Hello over HTTP.");
});

test("the token is in no file of the editor's", async () => {
  const places = await readdir(editor.folder, { recursive: true, withFileTypes: true });
  const files = places.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const holds = await Promise.all(
    files.map(async (file) => ((await readFile(file)).includes(server.token) ? [file] : [])),
  );
  expect(files.some((file) => file.endsWith("/chatLanguageModels.json"))).toBe(true);
  expect(holds.flat()).toEqual([]);
});

/** Remove every extension that was installed: only VS Code's own are left. */
async function removeAll(extensions: string): Promise<void> {
  for (const name of await readdir(extensions)) {
    await rm(join(extensions, name), { recursive: true });
  }
}

/** In Restricted Mode VS Code has no custom endpoints. */
async function trust(): Promise<void> {
  await page.locator(".part.banner a", { hasText: "Manage" }).click();
  await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).click();
  await page
    .locator(".statusbar-item", { hasText: "Restricted Mode" })
    .waitFor({ state: "detached" });
  await closeModal();
}

/** Type the server's token into the box for it, which doesn't show what is typed. */
async function typeKey(group: string): Promise<void> {
  const box = page.locator(".quick-input-widget:visible", { hasText: `${group}: API Key` });
  await box.locator('input[type="password"]').waitFor();
  await crop(page, RUN, `key of ${group}`, box);
  await type(page, `${group}: API Key`, server.token);
  await box.waitFor({ state: "hidden" });
}

/** Choose from the menu of vendors, which shows only what was known when it was opened. */
async function chooseVendor(name: string): Promise<void> {
  const add = page
    .locator(".models-add-model-button .monaco-button, .models-add-model-button")
    .first();
  const menu = page.locator(".context-view .monaco-menu:visible");
  const item = menu.locator(".action-item", { hasText: name });
  for (let tries = 0; tries < 20 && (await item.count()) === 0; tries++) {
    if (await menu.isVisible()) {
      await page.keyboard.press("Escape");
    }
    await add.click();
    await page.waitForTimeout(500); // a menu that has just opened takes no click
  }
  await crop(page, RUN, "vendors", add, menu);
  await item.click();
}

async function closeModal(): Promise<void> {
  await page.locator(".modal-editor-part .codicon-close").first().click();
  await page.locator(".modal-editor-part").waitFor({ state: "detached" });
}

/** The file of VS Code's that has the list of models. */
function list(): string {
  return join(editor.folder, "user/User/chatLanguageModels.json");
}

async function written(): Promise<Record<string, unknown>[]> {
  return JSON.parse(await readFile(list(), "utf8"));
}

/** Return the entry that stands in the guide, with this server's address and agent. */
async function entryOfTheGuide(group: string, name: string): Promise<Record<string, unknown>> {
  const [, text = ""] = /^```json\n(.*?)^```$/ms.exec(await readFile(guide, "utf8")) ?? [];
  const [entry] = JSON.parse(text);
  const model = { ...entry.models[0], id: "agent", name, url: `${server.url}/responses` };
  return { ...entry, name: group, models: [model] };
}

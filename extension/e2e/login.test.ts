// An agent that wants a login: a person logs in by a button, in a terminal, and goes on.

import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { shoot } from "./screenshots.ts";

const agents = join(OUTPUT, "login-agents");
const loginFile = join(agents, "logged-in");
const agent = new ScriptedAgent(agents, "agent");
const patience = { timeout: 30_000 };
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  const methods = [
    { id: "cli", name: "Account", type: "terminal", args: ["login"], env: { LOGIN_MODE: "cli" } },
    { id: "key", name: "Key", type: "env_var", vars: [{ name: "SCRIPTED_KEY" }] },
  ];
  editor = await Editor.start({
    name: "login",
    settings: {
      "vscodelm.agents": {
        eliza: { agent: { eliza: { deterministic: true } } },
        scripted: await agent.model({
          agent: { authMethods: methods },
          login_needed: ["session/new"],
          login_file: loginFile,
          otherwise: [{ say: "Now I know you." }],
        }),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "login", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a login is a button that opens a terminal with the agent's own command", async () => {
  await chat.choose("Scripted agent");
  await chat.send("hello there");
  expect(await chat.finished()).toContain("needs a login");
  const message = page.locator(".notification-toast", { hasText: "needs a login" });
  await message.waitFor(patience);
  const buttons = await message.locator(".monaco-button").allInnerTexts();
  expect(buttons).toEqual(expect.arrayContaining(["Log In: Account", "Set SCRIPTED_KEY..."]));
  await shoot(page, "login", "login-offered");
  await message.locator(".monaco-button", { hasText: "Log In: Account" }).click();
  const terminal = page.locator(".terminal-wrapper .xterm-rows").first();
  const told = async () => (await terminal.textContent())?.replaceAll("\u00a0", " ") ?? "";
  await expect.poll(told, patience).toContain("You are logged in.");
  expect(await readFile(loginFile, "utf8")).toBe("cli");
  const done = page.locator(".notification-toast", { hasText: "Send your message again" });
  await done.waitFor(patience);
  await shoot(page, "login", "login-done");
  await done.locator(".monaco-button", { hasText: "Go to the Chat" }).click();
  expect(await chat.retry()).toBe("Now I know you.");
});

test("an agent without a logout says so, and what to do", async () => {
  await chat.command("vscodelm: Log Out of Agent...");
  const list = page.locator(".quick-input-list .monaco-list-row");
  await list.filter({ hasText: "Scripted agent" }).first().click();
  const message = page.locator(".notification-toast", { hasText: "Log out with its own program" });
  await message.waitFor(patience);
});

test("the agent found no fault with us", async () => {
  expect(await agent.faults()).toEqual([]);
});

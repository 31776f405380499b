// Keys that a person types: each counts for the next message, and no answer that runs is cut off.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { pick, type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, EDITOR } from "./chat.ts";
import { Editor } from "./editor.ts";
import { type Event, startEndpoint } from "./endpoint.ts";
import { OUTPUT } from "./places.ts";
import type { Program } from "./program.ts";
import { shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

const KEY = "a-key-that-is-typed";
const NAME = "Endpoint";
const agents = join(OUTPUT, "keys-agents");
const agent = new ScriptedAgent(agents, "agent");
const ASKS = [
  {
    ask: { toolCallId: "call-1", title: "Tidy up", kind: "execute", rawInput: { command: "true" } },
  },
  { await: true },
  { outcomes: true },
  { say: " - and so it is." },
];
let endpoint: Program<Event>;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let traces: Traces;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  endpoint = await startEndpoint("keys-heard.jsonl", KEY);
  const words = {
    "take your time": [{ say: "here " }, { sleep: 45 }, { say: "it is" }],
    "tidy up": ASKS,
  };
  const scripted = await agent.model({ words, otherwise: [{ say: "Yes, indeed." }] });
  editor = await Editor.start({
    name: "keys",
    settings: { "vscodelm.agents": { scripted } },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  traces = new Traces(editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "keys", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await endpoint?.stop();
});

test("a key that is typed while an agent is added works in the next message", async () => {
  await chat.choose("Eliza");
  await chat.ask("Hello"); // the program runs
  await chat.command("vscodelm: Add Agent...");
  await pick(page, "Another endpoint...");
  await type(page, "The endpoint's address", endpoint.line);
  await type(page, "The environment variable that holds its key", "TYPED_KEY");
  await type(page, "The name of the model", NAME);
  await type(page, "The model's name");
  await type(page, "The model's id in the settings");
  await type(page, "The key (TYPED_KEY)", KEY);
  await page.locator(".notification-toast", { hasText: "is among the models" }).waitFor();
  await chat.command("Notifications: Clear All Notifications");
  await chat.choose(NAME);
  expect(await chat.ask("hello")).toBe("Yes, indeed.");
});

test("a key that is changed, and changed back, counts for the next message of the same chat", async () => {
  await setKey("TYPED_KEY", "another-key");
  expect(await chat.ask("hello again")).toMatch(/key/i);
  await setKey("TYPED_KEY", KEY);
  expect(await chat.ask("what do you remember?")).toContain("hello");
});

test("a long answer that runs while a key changes is finished, and others use the new key", {
  timeout: 240_000,
}, async () => {
  await chat.newChat();
  await chat.choose("Scripted agent");
  await chat.send("take your time");
  await chat.shows("here");
  const before = (await traces.files()).length;
  await setKey("ANOTHER_KEY", "which nobody names");
  await chat.command("Chat: New Chat Editor");
  const other = new Chat(page, EDITOR);
  await other.opened();
  await other.choose(NAME);
  expect(await other.ask("hello")).toBe("Yes, indeed.");
  expect((await traces.files()).length).toBe(before + 1);
  expect((await chat.rows()).at(-1)?.isLoading).toBe(true);
  expect(await chat.finished(120_000)).toBe("here it is");
  expect(await agent.faults()).toEqual([]);
});

test("an agent that asks while a key changes gets its answer in the same turn", async () => {
  const other = new Chat(page, EDITOR);
  await chat.send("tidy up");
  await chat.question.waitFor();
  await setKey("ANOTHER_KEY", "which nobody names, changed");
  expect(await other.ask("hello again")).toBe("Yes, indeed.");
  const sessions = new Set((await agent.prompts()).map(({ session }) => session));
  await chat.question.locator(".monaco-button", { hasText: "Allow Once" }).click();
  await chat.shows("and so it is.");
  expect(await chat.finished()).toContain("allowed");
  expect(new Set((await agent.prompts()).map(({ session }) => session))).toEqual(sessions);
  expect(await chat.ask("hello")).toBe("Yes, indeed."); // in the new program
  expect(await agent.faults()).toEqual([]);
});

test("a key that is deleted is there no more", async () => {
  await chat.command("vscodelm: Delete Secret...");
  await pick(page, "TYPED_KEY");
  await chat.newChat();
  await chat.choose(NAME);
  expect(await chat.ask("hello")).toContain("TYPED_KEY");
});

async function setKey(name: string, value: string): Promise<void> {
  await chat.command("vscodelm: Set Secret...");
  await type(page, "The environment variable that agents read the key from", name);
  await type(page, name, value);
}

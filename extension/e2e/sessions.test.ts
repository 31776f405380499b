// A session that an agent's own terminal began: a person finds it in a list, and a chat goes on in it.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { pick } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { crop, inWideChat, shoot } from "./screenshots.ts";

const COMMAND = "vscodelm: Continue an Agent's Session...";
const LIST = ".quick-input-widget:visible";
const patience = { timeout: 30_000 };
const agents = join(OUTPUT, "sessions-agents");
const agent = new ScriptedAgent(agents, "agent");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  const cwd = join(OUTPUT, "sessions", "workspace");
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const sessions = [
    { sessionId: "s0", cwd, title: "Plan the $(rocket) trip", updatedAt: hoursAgo(30) },
    { sessionId: "s1", cwd, title: "Remember Ada", updatedAt: hoursAgo(2) },
    { sessionId: "s2", cwd: "/elsewhere", title: "Not of this window", updatedAt: hoursAgo(1) },
  ];
  // As the program keeps what was said.
  await writeFile(join(agents, "agent.jsonl.sessions"), '{"s1": ["I am Ada"]}');
  editor = await Editor.start({
    name: "sessions",
    settings: {
      "vscodelm.agents": {
        eliza: { agent: { eliza: { deterministic: true } } },
        scripted: await agent.model({
          on: { "session/list": [{ result: { sessions } }] },
          otherwise: [{ memory: true }],
        }),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "sessions", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("the sessions of the folder are listed, the newest first", async () => {
  await chat.command(COMMAND);
  const rows = page.locator(`${LIST} .monaco-list-row`);
  await rows.filter({ hasText: "Remember Ada" }).waitFor(patience);
  const titles = await rows.locator(".label-name").allInnerTexts();
  expect(titles.filter((_, at) => at % 2 === 0)).toEqual([
    "Remember Ada",
    "Plan the $(rocket) trip",
  ]);
  expect(await rows.first().textContent()).toContain("2 hours ago");
  await shoot(page, "sessions", "list");
});

test("the chosen one is shown in a new chat, and goes on there", async () => {
  await pick(page, "Remember Ada");
  await chat.shows("Your next message continues this session.");
  expect(await chat.finished()).toContain("what I said to I am Ada");
  await inWideChat(page, () => crop(page, "sessions", "continued", page.locator(VIEW)));
});

test("the window is loaded anew, and the next message goes on in the session", async () => {
  await editor.keeps(/what I said to I am Ada/);
  await chat.reload();
  await chat.shows("Your next message continues this session.");
  expect(await chat.ask("who am I?")).toBe("I am Ada / who am I?");
});

test("a message that is edited afterwards is told with what was shown", async () => {
  await chat.edit("who am I?", "what is my name?");
  const answer = await chat.finished();
  expect(answer).toContain("what I said to I am Ada");
  expect(answer).not.toContain("who am I?");
});

test("the agent found no fault with us", async () => {
  expect(await agent.faults()).toEqual([]);
});

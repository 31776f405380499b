// As a person: the built-in chat with our models, in the real editor in a real browser.

import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { pick, type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, EDITOR, SAVED } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { crop, inWideChat, shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

const agents = join(OUTPUT, "person-agents");
const agent = new ScriptedAgent(agents, "agent");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let traces: Traces;

const NOTES = join(OUTPUT, "person/workspace/notes.txt");
const MADE = join(OUTPUT, "person/workspace/made.txt");
const call = {
  toolCallId: "call-1",
  title: "Tidy up `build`",
  kind: "execute",
  rawInput: { command: "rm -rf build && echo done" },
  content: [{ type: "diff", path: "/project/a.txt", oldText: "one\ntwo\n", newText: "one\n2\n" }],
};
const tidied = {
  sessionUpdate: "tool_call_update",
  toolCallId: "call-1",
  status: "completed",
  content: [{ type: "content", content: { type: "text", text: "tidied" } }],
};

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: "person",
    files: { "notes.txt": "Buy milk.\n" },
    settings: {
      "vscodelm.tools.duplicates": "offer",
      "vscodelm.agents": {
        eliza: { agent: { eliza: { deterministic: true } } },
        absent: { name: "Scripted nobody", agent: { acp: { command: "no-such-agent" } } },
        scripted: await agent.model({
          words: {
            "tidy up": [
              { say: "One thing. " },
              { ask: call },
              { await: true },
              { outcomes: true },
              { update: tidied },
              { say: " - and so it is." },
            ],
            "use the editor": [
              { tools: true },
              { call: "read_file", with: { filePath: NOTES, startLine: 1, endLine: 1 }, as: "one" },
              { call: "create_file", with: { filePath: MADE, content: "by an agent" }, as: "two" },
              { gather: true },
              { results: true },
              { say: " - all done." },
            ],
            slow: [{ say: "once upon a time " }, { hang: true }],
            "what do you remember?": [{ memory: true }],
            "take your time": [{ say: "here " }, { sleep: 3 }, { say: "it is" }],
          },
          otherwise: [{ say: "Yes, " }, { say: "indeed." }],
        }),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  traces = new Traces(editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "person", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a chat of three turns with Eliza", async () => {
  await chat.choose("Eliza");
  const first = await chat.ask("Hello");
  const second = await chat.ask("I am unhappy");
  const third = await chat.ask("My mother takes care of me");
  expect(first).toBe("How do you do. What brings you here?");
  expect(second).toMatch(/unhappy/);
  expect(third).toMatch(/mother|family|takes care of you/i);
  const requests = await traces.requestsTo("eliza");
  const newest = JSON.stringify(requests.at(-1)?.messages);
  for (const said of ["Hello", first, "I am unhappy", second, "My mother takes care of me"]) {
    expect(newest).toContain(said);
  }
});

test("Eliza uses two of the editor's own tools at once", async () => {
  const file = join(editor.workspace, "notes.txt");
  const said = [
    `!tool read_file ${JSON.stringify({ filePath: file, startLine: 1, endLine: 1 })}`,
    `!tool list_dir ${JSON.stringify({ path: editor.workspace })}`,
  ];
  await chat.send(said.join("\n"));
  const answer = await chat.finished();
  expect(answer).toContain("Buy milk.");
  expect(answer).toContain("notes.txt");
});

test("a failure is told in words, and the chat goes on", async () => {
  await chat.send("!error");
  const answer = await chat.finished();
  expect(answer).toMatch(/Eliza/);
  expect(answer).not.toMatch(/extension\.cjs|\bat \w+.*:\d+:\d+/);
  expect(await chat.ask("Hello again")).not.toBe("");
});

test("an agent asks for permission, and is allowed", async () => {
  await chat.newChat();
  await chat.choose("Scripted agent");
  expect(await chat.ask("hello there")).toBe("Yes, indeed.");
  await chat.send("tidy up");
  await chat.question.waitFor();
  await inWideChat(page, () => crop(page, "person", "change", chat.question));
  const question = await chat.question.textContent();
  expect(question).toContain("Run a command?");
  expect(question).toContain("asks: Tidy up `build`");
  const shown = await chat.question.locator(".view-lines").allTextContents();
  expect(plainText(shown[0])).toBe("rm -rf build && echo done");
  expect(plainText(shown[1])).toContain("-two");
  expect(plainText(shown[1])).toContain("+2");
  const buttons = await chat.question.locator(".monaco-button").allInnerTexts();
  // Each action is another one: nothing here may be allowed for longer than once.
  expect(buttons).toContain("Allow Once");
  expect(buttons.join()).not.toMatch(/Session|Workspace|Always/);
  await chat.question.locator(".monaco-button", { hasText: "Allow Once" }).click();
  await chat.shows("and so it is.");
  expect(await chat.finished()).toContain("allowed");
  expect(await outcomes()).toEqual(["once"]);
});

test("an agent asks for permission, and is denied", async () => {
  await chat.send("tidy up");
  await chat.question.waitFor();
  await chat.question.locator(".monaco-button", { hasText: "Skip" }).click();
  await chat.shows("and so it is.");
  expect(await chat.finished()).toContain("denied");
  expect(await outcomes()).toEqual(["once", "no"]);
});

test("an agent uses two of the editor's own tools at once, and changes a file on disk", async () => {
  await chat.newChat();
  await chat.send("use the editor");
  await chat.shows("all done.");
  expect(await chat.finished()).toContain("Buy milk.");
  await expect.poll(() => readFile(MADE, "utf8"), SAVED).toBe("by an agent");
  const calls = await traces.callsOfOneAnswer("scripted");
  expect(calls.sort()).toEqual(["create_file", "read_file"]);
});

test("an answer is stopped in the middle, and the chat goes on in the same session", async () => {
  await chat.newChat();
  await chat.ask("hello there");
  await chat.send("slow");
  await chat.shows("once upon a time");
  expect(await page.locator(".statusbar-item", { hasText: "Scripted agent" }).count()).toBe(0);
  await chat.stopButton.click();
  expect(await chat.finished()).toContain("once upon a time");
  const remembered = await chat.ask("what do you remember?");
  expect(remembered).toBe("hello there / slow / what do you remember?");
  const heard = await agent.heard();
  expect(heard.filter(({ method }) => method === "session/cancel")).toHaveLength(1);
  const sessions = (await agent.prompts()).slice(-3).map(({ session }) => session);
  expect(new Set(sessions).size).toBe(1);
});

test("an earlier message is edited, and the agent forgets what was taken back", async () => {
  await chat.newChat();
  await chat.ask("my name is Ada");
  await chat.ask("I like cats");
  await chat.ask("what do you remember?");
  const answer = await chat.edit("I like cats", "I like dogs");
  expect(answer).toBe("Yes, indeed.");
  const remembered = await chat.ask("what do you remember?");
  expect(remembered).toContain("my name is Ada");
  expect(remembered).toContain("I like dogs");
  expect(remembered).not.toContain("cats");
});

test("an answer is asked for again", async () => {
  const before = (await agent.prompts()).length;
  const remembered = await chat.retry();
  expect(remembered).toContain("I like dogs");
  const prompts = await agent.prompts();
  expect(prompts).toHaveLength(before + 1);
  expect(prompts.at(-1)?.texts.at(-1)).toBe("what do you remember?");
});

test("two chats are answered at once, each its own", async () => {
  await chat.command("Chat: New Chat Editor");
  const other = new Chat(page, EDITOR);
  await other.opened();
  await other.choose("Scripted agent");
  await chat.send("take your time");
  await chat.shows("here");
  expect(await other.ask("what do you remember?")).toBe("what do you remember?");
  expect((await chat.rows()).at(-1)?.isLoading).toBe(true);
  expect(await chat.finished()).toBe("here it is");
  const sessions = (await agent.prompts()).slice(-2).map(({ session }) => session);
  expect(sessions[0]).not.toBe(sessions[1]);
});

test("when the program is killed, that is said, and the next message starts it again", async () => {
  await chat.ask("my cat is called Tom");
  const pid = Math.max(
    ...(await traces.files()).map((file) => Number(/vscodelm-(\d+)/.exec(file)?.[1])),
  );
  process.kill(pid, "SIGKILL");
  const notice = page.locator(".notification-toast", { hasText: "vscodelm has ended" });
  await notice.waitFor();
  expect(await notice.textContent()).toContain("it was ended by SIGKILL");
  await chat.command("Notifications: Clear All Notifications"); // they lie over the chat
  const remembered = await chat.ask("what do you remember?");
  expect(remembered).toContain("my cat is called Tom");
  expect((await traces.files()).length).toBe(2);
});

test("an agent is added in three steps, and is among the models at once", async () => {
  await chat.command("vscodelm: Add Agent...");
  await pick(page, "OpenCode");
  expect(await type(page, "The model's name")).toBe("OpenCode");
  expect(await type(page, "The model's id in the settings")).toBe("opencode");
  await page
    .locator(".notification-toast", { hasText: '"OpenCode" is among the models' })
    .waitFor();
  await chat.command("Notifications: Clear All Notifications");
  await chat.choose("OpenCode");
  await chat.choose("Scripted agent");
  const user = join(editor.folder, "user");
  const files = ["User", "Machine"].map((place) => join(user, place, "settings.json"));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const added = texts.map((text) => JSON.parse(text)["vscodelm.agents"].opencode);
  expect(added).toContainEqual({ registry: "opencode" });
});

test("the doctor's report stays, of an agent that can be used and of one that can't", async () => {
  const list = page.locator(".quick-input-list .monaco-list-row");
  const lines = page.locator(".part.editor .view-lines");
  const told = async () => plainText((await lines.first().textContent()) ?? "");
  const tabs = page.locator(".part.editor .tab", { hasText: "Doctor's Report" });
  await chat.command("vscodelm: Run Doctor on an Agent...");
  await list
    .filter({ hasText: /^scripted/ })
    .first()
    .click();
  await expect.poll(told, { timeout: 60_000 }).toContain("scripted can be used.");
  expect(await told()).toContain("load, resume, fork, close, list");
  await shoot(page, "person", "doctor");
  await chat.command("vscodelm: Run Doctor on an Agent...");
  await list
    .filter({ hasText: /^absent/ })
    .first()
    .click();
  await expect.poll(told, { timeout: 60_000 }).toContain("no-such-agent was not found");
  const fixes = page.locator(".part.editor .codelens-decoration");
  await fixes.filter({ hasText: "Open Settings" }).waitFor();
  await shoot(page, "person", "doctor-failed");
  await fixes.locator("a", { hasText: "Open Settings" }).click();
  const settings = page.locator(".settings-editor");
  await settings.locator(".setting-item-title", { hasText: "Agents" }).first().waitFor();
  await shoot(page, "person", "doctor-settings");
  await page.keyboard.press("Escape");
  await settings.waitFor({ state: "detached" });
  expect(await tabs.count()).toBe(2);
  await chat.command("Notifications: Clear All Notifications");
  await chat.command("View: Close All Editors");
});

test("after the window was loaded anew the chat goes on, and the agent knows it", {
  timeout: 150_000,
}, async () => {
  await chat.ask("I like dogs");
  await chat.ask("the password is swordfish");
  await editor.keeps(/swordfish.*indeed/s);
  await chat.reload();
  await chat.shows("Yes, indeed.");
  const remembered = await chat.ask("what do you remember?");
  expect(remembered).toContain("the password is swordfish");
  expect((await chat.rows()).at(-1)?.text).toContain("I like dogs");
});

test("the agent found no fault with us", async () => {
  expect(await agent.faults()).toEqual([]);
});

/** Return which options were chosen for the agent's questions. */
async function outcomes(): Promise<(string | undefined)[]> {
  return (await agent.heard()).flatMap(({ result }) =>
    result?.outcome ? [result.outcome.optionId] : [],
  );
}

/** Code is shown with blanks that don't break. */
function plainText(text: string | undefined): string {
  return (text ?? "").replaceAll("\u00a0", " ");
}

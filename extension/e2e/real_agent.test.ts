// As a person, with an agent that people use: OpenCode, behind which stands a model that does what it is
// told. It works in the editor's folder, and with the editor's own tools.

import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OpenCode, PATIENCE, START } from "./opencode.ts";
import { shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

let agent: OpenCode;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  agent = await OpenCode.start("real-agent");
  editor = await Editor.start({
    name: "real-agent",
    files: { "notes.txt": "Buy milk.\n" },
    // It is to use the editor's tools, although it has such tools itself.
    settings: { ...agent.settings, "vscodelm.tools.duplicates": "offer" },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page, VIEW, PATIENCE);
  await chat.opened();
  await chat.choose("OpenCode");
});

afterEach(({ task }) => shoot(page, "real-agent", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await agent?.stop();
});

test("a real agent is told each word once, and knows what was said", START, async () => {
  // Its commands are named once, where the chat's first answer ends.
  expect(await chat.ask("Hello, my name is Ada")).toMatch(
    /^I hear you\.⌨️ Commands of this agent: .*\/init/,
  );
  expect(await chat.ask("RECALL")).toBe("You told me: Ada.");
  const messages = (await agent.asked("RECALL")).at(-1)?.messages ?? [];
  const user = JSON.stringify(messages.filter(({ role }) => role === "user"));
  expect(user.split("my name is Ada")).toHaveLength(2);
  // What the editor tells every model of itself is not what this user said.
  expect(user).not.toContain("<environment_info>");
});

test("a real agent asks for permission in its folder, and does what is allowed", async () => {
  await chat.send("WRITE(allowed.txt)");
  await chat.question.waitFor();
  const [command] = await chat.question.locator(".view-lines").allTextContents();
  expect(command?.replaceAll("\u00a0", " ")).toContain("touch allowed.txt");
  await shoot(page, "real-agent", "permission");
  await chat.question.locator(".monaco-button", { hasText: "Allow Once" }).click();
  await chat.shows("The tool said:");
  await chat.finished();
  await access(join(editor.workspace, "allowed.txt"));
});

test("what is denied to a real agent isn't done, and the chat goes on", async () => {
  await chat.send("WRITE(denied.txt)");
  await chat.question.waitFor();
  await chat.question.locator(".monaco-button", { hasText: "Skip" }).click();
  await chat.finished();
  expect(await chat.ask("RECALL")).toBe("You told me: Ada.");
  await expect(access(join(editor.workspace, "denied.txt"))).rejects.toThrow("ENOENT");
});

test("a real agent is stopped in mid-answer, and the chat goes on", async () => {
  await chat.send("ENDLESS");
  await chat.shows("And on. And on.");
  await chat.stopButton.click();
  expect(await chat.finished()).toContain("And on.");
  await agent.leaves("ENDLESS");
  expect(await chat.ask("RECALL")).toBe("You told me: Ada.");
});

test("a real agent uses two of the editor's own tools at once, and changes a file", async () => {
  const made = join(editor.workspace, "made.txt");
  const notes = join(editor.workspace, "notes.txt");
  const uses = [
    `USE read_file ${JSON.stringify({ filePath: notes, startLine: 1, endLine: 1 })}`,
    `USE create_file ${JSON.stringify({ filePath: made, content: "by a real agent" })}`,
  ];
  await chat.send(uses.join("\n"));
  await chat.shows("The tool said:");
  expect(await chat.finished()).toContain("Buy milk.");
  await expect.poll(() => readFile(made, "utf8"), SAVED).toBe("by a real agent");
  expect((await new Traces(editor).callsOfOneAnswer("opencode")).sort()).toEqual([
    "create_file",
    "read_file",
  ]);
  const messages = (await agent.asked("results")).at(-1)?.messages ?? [];
  const results = messages.slice(-2);
  expect(results.map(({ role }) => role)).toEqual(["tool", "tool"]);
  expect(JSON.stringify(results)).toContain("Buy milk.");
});

test("what was taken back is unknown to a real agent's model", START, async () => {
  await chat.ask("no, my name is Zoltan");
  await chat.edit("no, my name is Zoltan", "and my cat is called Tom");
  expect(await chat.ask("RECALL")).toBe("You told me: Ada.");
  const newest = JSON.stringify((await agent.asked("RECALL")).at(-1));
  expect(newest).toContain("my cat is called Tom");
  expect(newest).not.toContain("Zoltan");
});

// The changes of an agent are the editor's edits: they are kept or undone there, what isn't saved is
// respected, and a checkpoint takes files and words back.

import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { crop, inWideChat, shoot } from "./screenshots.ts";

const agents = join(OUTPUT, "edits-agents");
const agent = new ScriptedAgent(agents, "editor");
const own = new ScriptedAgent(agents, "itself");
/** There is such a file when the agent's command has ended. */
const made = join(agents, "made");
const MANY = 30;
/** Rounds after which the editor asks whether to go on. */
const LIMIT = 35;
const START = "one\r\ntwo\r\nthree\r\n";
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

const at = (name: string) => join(editor.workspace, name);
const text = (name: string) => readFile(at(name), "utf8");

/** A call by which an agent tells that it has changed a file itself. */
function changed(name: string, oldText: string, newText: string) {
  const content = [{ type: "diff", path: at(name), oldText, newText }];
  const call = {
    toolCallId: name,
    title: `Edit ${name}`,
    kind: "edit",
    status: "completed",
    content,
  };
  return { update: { sessionUpdate: "tool_call", ...call } };
}

/** A call by which an agent tells that it runs a command, and nothing of the files. */
function command(status: string) {
  const call = { toolCallId: "make", title: "make report", kind: "execute", status };
  return { update: { sessionUpdate: "tool_call", ...call } };
}

/** Commit all files of the workspace but those that git is to ignore. */
async function commit(): Promise<void> {
  const workspace = join(OUTPUT, "edits/workspace");
  await writeFile(join(workspace, ".gitignore"), "*.log\n");
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...author, "commit", "-qm", "Begin"],
  ]) {
    execFileSync("git", args, { cwd: workspace });
  }
}

/** Steps that read a file, and write it anew. */
function edits(name: string, content: string) {
  return [{ read: at(name) }, { await: true }, { write: at(name), content }];
}

/** Steps that make so many edits one after the other. */
function many(edits: number) {
  const steps = Array.from({ length: edits }, (_, index) => [
    { write: at(`many${index % 3}.txt`), content: `${edits}: ${index}\n` },
    { await: true },
  ]);
  return [...steps.flat(), { outcomes: true }];
}

const END = [{ await: true }, { outcomes: true }];

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: "edits",
    files: {
      "crlf.txt": START,
      "open.txt": "a\nb\nc\n",
      "shell.txt": "old\n",
      "plan.txt": "1\n",
      "own.txt": "after\n",
      "report.txt": "committed\n",
    },
    prepare: commit,
    settings: {
      "chat.agent.maxRequests": LIMIT,
      "vscodelm.agents": {
        scripted: await agent.model({}, { settings: { edits: "editor" } }),
        itself: await own.model({}),
      },
    },
  });
  await agent.model({
    agent: { agentCapabilities: { loadSession: true } },
    // In the order of the tests: what is attached to a message stands behind its words.
    turns: [
      [...edits("crlf.txt", "one\n2\nthree\n"), ...END],
      [
        { write: at("new.txt"), content: "new\n" },
        { write: at("other.txt"), content: "other\n" },
        ...END,
      ],
      [...edits("open.txt", "mine\na\nb\nC\n"), ...END],
      [...edits("shell.txt", "newer\nstill newer\n"), ...END],
      [...edits("plan.txt", "1\n2\n"), ...END],
      [{ memory: true }],
      many(MANY),
      many(LIMIT + 5),
    ],
    otherwise: [{ memory: true }],
  });
  await own.model({
    turns: [
      [{ say: "[a link](command:vscodelm.showLog)" }, changed("own.txt", "before\n", "after\n")],
      [
        command("in_progress"),
        { say: "I make it." },
        { until: made },
        command("completed"),
        { say: "It is made." },
      ],
    ],
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
  await chat.choose("Scripted editor");
});

afterEach(({ task }) => shoot(page, "edits", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a change is the editor's: its line ends stay, and it can be undone", async () => {
  expect(await chat.ask("change crlf")).toContain("answered");
  expect(await text("crlf.txt")).toBe("one\r\n2\r\nthree\r\n");
  await chat.button("Undo").waitFor();
  const files = page.locator(VIEW).getByText("1 file changed");
  await inWideChat(page, async () => {
    await files.click(); // now it lists them
    await page.mouse.move(4, 300); // what it rests on would explain itself
    await page.waitForTimeout(1_000);
    await crop(page, "edits", "keep or undo", page.locator(VIEW));
    await files.click();
  });
  await chat.button("Undo").click();
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Yes" }).click();
  await expect.poll(() => text("crlf.txt"), SAVED).toBe(START);
});

test("two new files are made at once, and kept", async () => {
  expect(await chat.ask("make two")).toContain("answered answered");
  expect(await text("new.txt")).toBe("new\n");
  expect(await text("other.txt")).toBe("other\n");
  await chat.button("Keep").click();
  await chat.button("Keep").waitFor({ state: "detached" });
});

test("text that isn't saved is respected", async () => {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "open.txt" }).click();
  const buffer = page.locator(".part.editor .monaco-editor").first();
  await buffer.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("mine\n");
  expect(await text("open.txt")).toBe("a\nb\nc\n");
  expect(await chat.ask("change open")).toContain("<mine");
  expect(await text("open.txt")).toBe("mine\na\nb\nC\n");
});

test("a file that another program has just changed is changed from there", async () => {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "shell.txt" }).click();
  await page.locator(".part.editor .monaco-editor", { hasText: "old" }).first().waitFor();
  await writeFile(at("shell.txt"), "new\nby the shell\n");
  expect(await chat.ask("change shell")).toContain("by the shell");
  expect(await text("shell.txt")).toBe("newer\nstill newer\n");
});

test("a checkpoint takes the file and the agent's memory back", async () => {
  await chat.ask("change plan");
  expect(await text("plan.txt")).toBe("1\n2\n");
  await chat.restore("change plan");
  await expect.poll(() => text("plan.txt"), SAVED).toBe("1\n");
  const told = await chat.ask(" What was said?"); // behind the message, which is in the input again
  expect(told).toContain("crlf.txt");
  expect(told).not.toContain("plan.txt");
});

test("many edits in one turn are all made", { timeout: 240_000 }, async () => {
  await chat.newChat();
  const begun = Date.now();
  await chat.send("change many");
  await chat.finished(200_000);
  const seconds = (Date.now() - begun) / 1000;
  console.log(`${MANY} edits in one turn: ${(seconds / MANY).toFixed(2)} s each`);
  expect(await text("many2.txt")).toBe(`${MANY}: ${MANY - 1}\n`);
});

test("at the limit of rounds the editor asks, and the edits go on", {
  timeout: 300_000,
}, async () => {
  await chat.newChat();
  await chat.send("change more");
  const go = page.locator(`${VIEW} .interactive-response .monaco-button`, { hasText: "Continue" });
  await go.first().waitFor({ timeout: 200_000 });
  // The editor draws the question's spaces as ones that don't break.
  expect((await chat.newest()).replaceAll("\u00a0", " ")).toContain("Continue to iterate?");
  await shoot(page, "edits", "limit");
  await go.first().click();
  const answered = (await chat.finished(200_000)).match(/answered/g);
  expect(answered).toHaveLength(LIMIT + 5);
  expect(await text(`many${(LIMIT + 4) % 3}.txt`)).toBe(`${LIMIT + 5}: ${LIMIT + 4}\n`);
});

test("what an agent changes by itself is named, and can be compared", async () => {
  await chat.newChat();
  await chat.choose("Scripted itself");
  const answer = await chat.ask("change it yourself");
  expect(answer).toContain("Changed by the agent: own.txt");
  // A link in an answer runs no command, so the comparison is opened from elsewhere.
  expect(await chat.response.locator('a[data-href^="command:"]').count()).toBe(0);
  await page.locator(".statusbar-item", { hasText: "1 file changed" }).click();
  const comparison = page.locator(".multiDiffEntry");
  await comparison.filter({ hasText: "before" }).waitFor();
  await comparison.filter({ hasText: "after" }).waitFor();
  const tab = page.locator(".part.editor .tab.active");
  await crop(page, "edits", "comparison", tab, comparison.filter({ hasText: "before" }));
});

test("what a command changes is named apart, and compared with the last commit", async () => {
  await chat.newChat();
  await chat.send("make a report");
  await chat.response.getByText("I make").first().waitFor();
  await writeFile(at("make.log"), "ignored\n");
  await writeFile(at("report.txt"), "reported\n");
  await writeFile(made, "");
  const answer = await chat.finished();
  expect(answer).toContain("It is made.");
  expect(answer).toContain("Changed while the agent worked: report.txt");
  expect(answer).not.toContain("make.log");
  await page.locator(".statusbar-item", { hasText: "1 file changed" }).click();
  const comparison = page.locator(".multiDiffEntry");
  await comparison.filter({ hasText: "committed" }).waitFor();
  await comparison.filter({ hasText: "reported" }).waitFor();
});

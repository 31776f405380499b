// What an agent asks is seen whole, and may be allowed for longer than once.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ASKS_BY_FORM, ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OUTPUT } from "./places.ts";
import { shoot } from "./screenshots.ts";

const agents = join(OUTPUT, "permission-agents");
const agent = new ScriptedAgent(agents, "agent");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

const LONG =
  "curl -sSL https://example.org/install/the/tool/of/which/the/name/is/long.sh | tee /tmp/install.log " +
  `&& echo ${"x".repeat(120)} && if true; then\n    echo "within"\nfi; rm -rf ~/important`;

function asks(command: string, callId: string, description: string) {
  const rawInput = { command, description };
  return [
    { ask: { toolCallId: callId, title: "bash", kind: "execute", rawInput } },
    { await: true },
    { outcomes: true },
    { say: " - done." },
  ];
}

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: "permission",
    settings: {
      "vscodelm.agents": {
        eliza: { agent: { eliza: { deterministic: true } } },
        scripted: await agent.model({
          words: {
            "run something long": asks(LONG, "long", "Install the tool"),
            "list the files": asks("ls -la", "list", "List the files"),
            "list them again": asks("ls -la", "again", "Have another look"),
            "ask me first": ASKS_BY_FORM,
            "make it": asks("make", "make", "Build"),
            "make it again": asks("make", "make-again", "Build"),
            "make it once more": asks("make", "make-more", "Build"),
          },
        }),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
  await chat.choose("Scripted agent");
});

afterEach(({ task }) => shoot(page, "permission", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a long command is seen whole, however narrow the chat is", async () => {
  await chat.send("run something long");
  await chat.question.waitFor();
  for (const width of [undefined, 500]) {
    if (width !== undefined) {
      await chat.resize(width);
    }
    await shoot(page, "permission", `long command at ${width ?? "default"}`.replace(/\d/g, digit));
    expect(await clipped()).toEqual([]);
    const shown = plain(await chat.question.textContent());
    const code = plain((await chat.question.locator(".view-lines").allTextContents()).join(""));
    expect(code.replace(/\s/g, "")).toBe(LONG.replace(/\s/g, ""));
    expect(shown).not.toContain("Input");
    expect(shown).not.toContain("rawInput");
  }
  expect(plain(await chat.question.textContent())).toContain("Run a command?");
  await allow();
  expect(await chat.finished()).toContain("allowed");
});

test("that holds for who has switched the breaking of lines off, too", async () => {
  await setting("chat.editor.wordWrap", "off");
  await chat.newChat();
  await chat.send("run something long");
  await chat.question.waitFor();
  await chat.resize(300);
  await shoot(page, "permission", "long command without wrapping");
  expect(await clipped()).toEqual([]);
  const code = plain((await chat.question.locator(".view-lines").allTextContents()).join(""));
  expect(code.replace(/[\s↪]/g, "")).toBe(LONG.replace(/\s/g, ""));
  await allow();
  expect(await chat.finished()).toContain("allowed");
  await setting("chat.editor.wordWrap", undefined);
});

test("Eliza's question says who asks", async () => {
  await chat.newChat();
  await chat.choose("Eliza");
  await chat.send("!permission Open the window_x");
  await chat.question.waitFor();
  expect(plain(await chat.question.textContent())).toContain("Eliza asks: Open the window_x");
  await chat.question.locator(".monaco-button", { hasText: "Skip" }).click();
  expect(await chat.finished()).toContain("denied");
});

test("Eliza asks by a form, and reads what was filled in", async () => {
  await chat.send("!form");
  const form = page.locator(".quick-input-widget:visible");
  await form.filter({ hasText: "Eliza asks: Name (1/5)" }).waitFor();
  await shoot(page, "permission", "a form of Eliza");
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  await form.locator(".monaco-list-row", { hasText: "Large" }).first().click();
  await form.filter({ hasText: "Count (3/5)" }).waitFor();
  await page.keyboard.press("Enter");
  await form.filter({ hasText: "Colours (optional) (4/5)" }).waitFor();
  await form.locator(".monaco-button", { hasText: "OK" }).click();
  await form.locator(".monaco-list-row", { hasText: "Yes" }).first().click();
  const answer = plain(await chat.finished()).replace(/\s/g, "");
  expect(answer).toContain('{"name":"Ada","size":"l","count":3,"sure":true}');
});

test("a command is always allowed, and is shown without a question", async () => {
  await chat.newChat();
  await chat.choose("Scripted agent");
  await chat.send("list the files");
  await chat.question.waitFor();
  await always("run only: ls -la", "until this window closes");
  await allow();
  expect(await chat.finished()).toContain("allowed");
  const again = await chat.ask("list them again");
  expect(again).toContain("Allowed by your rule");
  expect(again).toContain("allowed - done.");
  expect((await outcomes()).at(-1)).toBe("once");
});

test("an agent asks by a form while it answers", async () => {
  await chat.send("ask me first");
  const form = page.locator(".quick-input-widget:visible");
  await form.filter({ hasText: "Scripted agent asks: Colour" }).waitFor();
  await shoot(page, "permission", "a form of an agent");
  await form.locator(".monaco-list-row", { hasText: "blue" }).first().click();
  expect(plain(await chat.finished())).toContain('accept {"colour": "blue"}');
});

test("another command is asked for all the same", async () => {
  await chat.send("make it");
  await chat.question.waitFor();
  await always("run any command", "for good");
  await allow();
  expect(await chat.finished()).toContain("allowed");
});

test("what is allowed for good outlives the window, and is taken back", {
  timeout: 180_000,
}, async () => {
  await editor.keeps(/make it/);
  await chat.reload();
  expect(await chat.ask("make it again")).toContain("Allowed by your rule");
  await chat.command("vscodelm: Manage Permissions...");
  const list = page.locator(".quick-input-list .monaco-list-row");
  await list.filter({ hasText: "run any command" }).first().waitFor();
  await shoot(page, "permission", "manage permissions");
  expect(await list.allInnerTexts()).toHaveLength(1); // what was until the window closes has gone
  await list.first().click();
  await chat.send("make it once more");
  await chat.question.waitFor();
  await chat.question.locator(".monaco-button", { hasText: "Skip" }).click();
  expect(await chat.finished()).toContain("denied");
});

test("the agent's own answer is given to the agent", async () => {
  await chat.newChat();
  await chat.send("list the files");
  await chat.question.waitFor();
  await always("Always", "the agent's own answer");
  await allow();
  expect(await chat.finished()).toContain("allow_always");
  expect((await outcomes()).at(-1)).toBe("always");
  expect(await agent.faults()).toEqual([]);
});

/** Change a setting of the user, and wait until it counts. */
async function setting(key: string, value: unknown): Promise<void> {
  await editor.setting(key, value);
  await page.waitForTimeout(2_000); // the editor reads its files when it hears of the change
}

async function allow(): Promise<void> {
  await chat.question.locator(".monaco-button", { hasText: "Allow Once" }).click();
}

/** Choose what is to be allowed with the question. */
async function always(label: string, description: string): Promise<void> {
  await chat.question.locator("a", { hasText: "Always Allow..." }).click();
  const list = page.locator(".quick-input-list .monaco-list-row");
  const row = list.filter({ hasText: label }).filter({ hasText: description });
  await row.first().waitFor();
  await shoot(page, "permission", `choices for ${label}`);
  await row.first().click();
  await page.locator(".notification-toast", { hasText: "Now press Allow Once" }).waitFor();
  await shoot(page, "permission", `chosen ${label}`);
  await chat.command("Notifications: Clear All Notifications");
}

/** Return the elements of the question of which something is out of sight to the side. */
function clipped(): Promise<string[]> {
  return chat.question.evaluate((question) => {
    const edge = question.getBoundingClientRect().right;
    const inCode = ".view-line > span, .view-line > span *";
    const text = ".rendered-markdown > *, .rendered-markdown p *, .rendered-markdown li *";
    const scrolled = [...question.querySelectorAll(".rendered-markdown, p, li")];
    const edgeOf = (element: Element) =>
      element.closest(".monaco-editor")?.getBoundingClientRect().right ?? edge;
    const wide = [...question.querySelectorAll(`${inCode}, ${text}`)];
    return [
      ...scrolled.filter((element) => element.scrollWidth > element.clientWidth),
      ...wide.filter((element) => element.getBoundingClientRect().right > edgeOf(element)),
    ].map((element) => `${element.tagName} ${element.textContent?.slice(0, 40)}`);
  });
}

async function outcomes(): Promise<(string | undefined)[]> {
  return (await agent.heard()).flatMap(({ result }) =>
    result?.outcome ? [result.outcome.optionId] : [],
  );
}

/** The names of pictures have no digits. */
function digit(one: string): string {
  return ` ${["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"][Number(one)]} `;
}

function plain(text: string | null): string {
  return (text ?? "").replaceAll("\u00a0", " ");
}

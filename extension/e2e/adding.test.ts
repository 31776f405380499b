// Adding and removing agents: commands as people type them, names and ids that they choose.

import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { pick, type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { FAKE_AGENT, OUTPUT, PYTHON } from "./places.ts";
import { shoot } from "./screenshots.ts";

const agents = join(OUTPUT, "adding-agents");
const agent = new ScriptedAgent(agents, "agent");
const program = join(agents, "my tools", "agent");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(join(agents, "my tools"), { recursive: true });
  await agent.model({ otherwise: [{ say: "Yes, indeed." }] });
  const files = `"${join(agents, "agent.json")}" "${join(agents, "agent.jsonl")}"`;
  const told = `printf '%s\\n' "$@" >"${join(agents, "told")}"`;
  await writeFile(program, `#!/bin/sh\n${told}\nexec "${PYTHON}" "${FAKE_AGENT}" ${files}\n`);
  await chmod(program, 0o755);
  editor = await Editor.start({ name: "adding" });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "adding", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a command with blanks and quotes is split as a shell would, and gets its own name", async () => {
  await chat.command("vscodelm: Add Agent...");
  await pick(page, "Another agent...");
  await type(page, "The command that starts the agent", `'${program}' --say "two words`);
  const complaint = page.locator(".quick-input-message", { hasText: "A quote isn't closed." });
  await complaint.waitFor();
  await shoot(page, "adding", "quote");
  const line = `'${program}' --say "two  words" '$HOME'`;
  await type(page, "The command that starts the agent", line);
  await page.locator(".quick-input-title", { hasText: "The model's name" }).waitFor();
  await shoot(page, "adding", "name");
  expect(await type(page, "The model's name", "Scripted one")).toBe("Scripted one");
  await page.locator(".quick-input-title", { hasText: "The model's id" }).waitFor();
  await shoot(page, "adding", "id");
  expect(await type(page, "The model's id in the settings")).toBe("scripted-one");
  await added("Scripted one");
  await chat.choose("Scripted one");
  expect(await chat.ask("hello")).toBe("Yes, indeed.");
  expect(await told()).toEqual(["--say", "two  words", "$HOME"]);
});

test("an id that is there already isn't overwritten unasked", async () => {
  await chat.command("vscodelm: Add Agent...");
  await pick(page, "OpenCode");
  await type(page, "The model's name");
  const box = page.locator(".quick-input-widget:visible", {
    hasText: "The model's id in the settings",
  });
  await box.locator("input:visible").last().fill("scripted-one");
  await box.locator(".quick-input-message", { hasText: "already" }).waitFor();
  await shoot(page, "adding", "id is taken");
  await page.keyboard.press("Enter");
  const question = page.locator(".monaco-dialog-box", {
    hasText: 'a model "scripted-one" already',
  });
  await question.waitFor();
  await question.locator(".monaco-button", { hasText: "Cancel" }).click();
  expect(await chat.ask("hello again")).toBe("Yes, indeed.");
});

test("an agent that is removed is no model any more, and its process ends", async () => {
  const running = (await agent.heard()).findLast(({ process: pid }) => pid !== undefined)?.process;
  expect(isThere(running)).toBe(true);
  await chat.command("vscodelm: Remove Agent...");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Scripted one" }).waitFor();
  await shoot(page, "adding", "remove");
  await pick(page, "Scripted one");
  const question = page.locator(".monaco-dialog-box", { hasText: 'Remove "Scripted one"' });
  await question.waitFor();
  await shoot(page, "adding", "remove question");
  await question.locator(".monaco-button", { hasText: "Remove" }).click();
  await page.locator(".notification-toast", { hasText: "was removed from the models" }).waitFor();
  await expect.poll(() => isThere(running), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => written(), { timeout: 10_000 }).toEqual([]);
  await chat.command("Notifications: Clear All Notifications");
  await chat.choose("Eliza");
  expect(await chat.ask("Hello")).not.toBe("");
});

test("what is there by default is hidden", async () => {
  await chat.command("vscodelm: Remove Agent...");
  await pick(page, "Eliza");
  const question = page.locator(".monaco-dialog-box", { hasText: 'Remove "Eliza"' });
  await question.locator(".monaco-button", { hasText: "Remove" }).click();
  await expect.poll(() => written(), { timeout: 10_000 }).toEqual([["eliza", null]]);
});

async function added(name: string): Promise<void> {
  const toast = page.locator(".notification-toast", { hasText: `"${name}" is among the models` });
  await toast.waitFor();
  await chat.command("Notifications: Clear All Notifications");
}

/** Return the arguments of the agent's program. */
async function told(): Promise<string[]> {
  return (await readFile(join(agents, "told"), "utf8")).trimEnd().split("\n");
}

/** Return the entries of the settings where the editor has written them. */
async function written(): Promise<[string, unknown][]> {
  const files = ["User", "Machine"].map((place) =>
    join(editor.folder, "user", place, "settings.json"),
  );
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.flatMap((text) => Object.entries(JSON.parse(text)["vscodelm.agents"] ?? {}));
}

function isThere(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

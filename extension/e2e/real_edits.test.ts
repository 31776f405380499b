// What agents that people use change is the editor's edit. Two use the editor's own tools, with theirs
// switched off; two write through the protocol. Their models do what they are told.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OpenCode, PATIENCE, START } from "./opencode.ts";
import { shoot } from "./screenshots.ts";

const NAMES = ["opencode", "claude", "gemini", "qwen"] as const;
type Name = (typeof NAMES)[number];

let agents: Map<Name, OpenCode>;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

const at = (name: string) => join(editor.workspace, name);
const text = (name: string) => readFile(at(name), "utf8");
const use = (tool: string, given: object) => `USE ${tool} ${JSON.stringify(given)}`;

/** The lines upon which the model has its agent replace a text. */
function replace(agent: Name, file: string, old: string, now: string): string {
  const [filePath, file_path] = [at(file), at(file)];
  switch (agent) {
    case "opencode":
    case "claude":
      return use("replace_string_in_file", { filePath, oldString: old, newString: now });
    default: {
      const given = { file_path, old_string: old, new_string: now };
      const edit =
        agent === "qwen" ? use("=edit", given) : use("=replace", { ...given, instruction: "Do." });
      return [use("=read_file", { file_path }), "THEN", edit].join("\n");
    }
  }
}

function create(agent: Name, file: string, content: string): string {
  const isEditors = agent === "opencode" || agent === "claude";
  return isEditors
    ? use("create_file", { filePath: at(file), content })
    : use("=write_file", { file_path: at(file), content });
}

beforeAll(async () => {
  agents = new Map();
  for (const name of NAMES) {
    agents.set(name, await OpenCode.start(`real-edits-${name}`, name));
  }
  const models = [...agents].map(([name, agent]) => [
    name,
    { name: `Scripted ${name}`, agent: agent.definition },
  ]);
  editor = await Editor.start({
    name: "real-edits",
    files: Object.fromEntries(NAMES.map((name) => [`${name}.txt`, "one\r\ntwo\r\nthree\r\n"])),
    settings: { "vscodelm.agents": Object.fromEntries(models) },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page, VIEW, PATIENCE);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, "real-edits", `${task.suite?.name} ${task.name}`));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  for (const agent of agents?.values() ?? []) {
    await agent.stop();
  }
});

describe.each(NAMES)("%s", (name) => {
  test("changes a file by the editor's edit, which can be undone", START, async () => {
    await chat.newChat();
    await chat.choose(`Scripted ${name}`);
    await chat.ask("Hello, my name is Ada");
    const answer = await chat.ask(replace(name, `${name}.txt`, "two", "2"));
    expect(answer).not.toContain("Changed "); // neither by the agent itself, nor while it worked
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("one\r\n2\r\nthree\r\n");
    await chat.button("Undo").waitFor();
    await chat.button("Undo").click();
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Yes" }).click();
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("one\r\ntwo\r\nthree\r\n");
  });

  test("makes two files at once", START, async () => {
    const files = ["x", "y"].map((file) => `${name}-${file}.txt`);
    await chat.ask(files.map((file) => create(name, file, `${file}\n`)).join("\n"));
    for (const file of files) {
      await expect.poll(() => text(file).catch(() => ""), SAVED).toBe(`${file}\n`);
    }
    await chat.button("Keep").click();
    await chat.button("Keep").waitFor({ state: "detached" });
  });

  test("forgets what a checkpoint takes back, and the file is as before", START, async () => {
    await chat.ask(`no, my name is Zoltan\n${replace(name, `${name}.txt`, "three", "3")}`);
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("one\r\ntwo\r\n3\r\n");
    await chat.restore("no, my name is Zoltan");
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("one\r\ntwo\r\nthree\r\n");
    await page.keyboard.press("Control+A"); // the message is in the input again
    await page.keyboard.press("Delete");
    expect(await chat.ask("RECALL")).toContain("You told me: Ada.");
    expect(JSON.stringify((await agents.get(name)?.asked("RECALL"))?.at(-1))).not.toContain(
      "Zoltan",
    );
    await chat.ask(replace(name, `${name}.txt`, "three", "drei"));
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("one\r\ntwo\r\ndrei\r\n");
  });

  test("keeps what isn't saved, and what another program has just written", START, async () => {
    const row = page.locator(".explorer-folders-view .monaco-list-row");
    await row.filter({ hasText: `${name}.txt` }).click();
    await page.locator(".part.editor .monaco-editor", { hasText: "drei" }).first().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("mine\n");
    expect(await text(`${name}.txt`)).not.toContain("mine");
    await chat.ask(replace(name, `${name}.txt`, "two", "zwei"));
    await expect.poll(() => text(`${name}.txt`), SAVED).toBe("mine\r\none\r\nzwei\r\ndrei\r\n");
    await writeFile(at(`${name}-x.txt`), "one program\nanother\n");
    await chat.ask(replace(name, `${name}-x.txt`, "another", "agent"));
    await expect.poll(() => text(`${name}-x.txt`), SAVED).toBe("one program\nagent\n");
  });
});

// Other versions of VS Code than the newest: the picker, a chat, a permission, a stop. The same in the
// newest, too: so what fails in an older one only is known to be its version's.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { BELOW, type Edition, NEWEST, OLDEST } from "./editions.ts";
import { Editor } from "./editor.ts";
import { installEdition } from "./install.ts";
import { OUTPUT } from "./places.ts";
import { NOTHING_GRANTED, proposals } from "./proposals.ts";
import { shoot } from "./screenshots.ts";

const MODELS = ["Eliza", "Scripted agent"];
const SCRIPT = {
  words: {
    "tidy up": [
      { ask: { toolCallId: "call-1", title: "Tidy up", rawInput: { command: "rm -rf build" } } },
      { await: true },
      { outcomes: true },
      { say: " - and so it is." },
    ],
    slow: [{ say: "once upon a time " }, { hang: true }],
    "what do you remember?": [{ memory: true }],
  },
  otherwise: [{ say: "Yes, indeed." }],
};

interface Started {
  page: Page;
  chat: Chat;
  agent: ScriptedAgent;
  proposed: string;
  /** Names its folder in the output. */
  run: string;
}

/** Have a version run for the tests of a group. */
function started(edition: Edition): Started {
  const run = `version-${edition.version}`;
  const agents = join(OUTPUT, `${run}-agents`);
  const proposed = join(agents, "proposer.json");
  const agent = new ScriptedAgent(agents, "agent");
  const it = { agent, proposed, run } as Started;
  let editor: Editor;
  let context: BrowserContext;

  beforeAll(async () => {
    installEdition(edition);
    await rm(agents, { recursive: true, force: true });
    await mkdir(agents, { recursive: true });
    editor = await Editor.start({
      name: run,
      edition,
      extensions: ["proposer"],
      env: { PROPOSER_OUTPUT: proposed },
      settings: {
        "vscodelm.agents": {
          eliza: { agent: { eliza: { deterministic: true } } },
          scripted: await agent.model(SCRIPT),
        },
      },
    });
    context = await openBrowser(editor);
    it.page = await openWindow(context, editor);
    it.chat = new Chat(it.page);
    await it.chat.opened();
  });

  afterEach(({ task }) => shoot(it.page, run, task.name));

  afterAll(async () => {
    await context?.close();
    await editor?.stop();
  });

  return it;
}

describe.each([OLDEST, NEWEST])("VS Code $version", (edition) => {
  const it = started(edition);

  test("an extension has no proposed API", async () => {
    expect(await proposals(it.proposed)).toEqual(NOTHING_GRANTED);
  });

  test("the picker lists every model", async () => {
    expect(await it.chat.listed()).toEqual(expect.arrayContaining(MODELS));
    await shoot(it.page, it.run, "picker");
    await it.page.keyboard.press("Escape");
  });

  test("Eliza answers, and then answers what was said to that", async () => {
    await it.chat.choose("Eliza");
    expect(await it.chat.ask("Hello")).toBe("How do you do. What brings you here?");
    expect(await it.chat.ask("I am unhappy")).toMatch(/unhappy/);
  });

  test("an agent asks for permission, and is allowed", async () => {
    await it.chat.newChat();
    await it.chat.choose("Scripted agent");
    await it.chat.send("tidy up");
    await it.chat.question.waitFor();
    await shoot(it.page, it.run, "permission");
    expect(await it.chat.question.textContent()).toContain("Tidy up");
    const allow = it.chat.question.locator(".monaco-button", { hasText: "Allow Once" });
    await allow.click();
    expect(await it.chat.finished()).toContain("allowed");
  });

  test("an answer is stopped, and the chat goes on in the same session", async () => {
    await it.chat.newChat();
    await it.chat.send("slow");
    await it.chat.shows("once upon a time");
    await it.chat.stopButton.click();
    expect(await it.chat.finished()).toContain("once upon a time");
    expect(await it.chat.ask("what do you remember?")).toBe("slow / what do you remember?");
    const heard = await it.agent.heard();
    expect(heard.filter(({ method }) => method === "session/cancel")).toHaveLength(1);
    expect(await it.agent.faults()).toEqual([]);
  });
});

describe(`VS Code ${BELOW.version}`, () => {
  const it = started(BELOW);

  test("an extension has no proposed API", async () => {
    expect(await proposals(it.proposed)).toEqual(NOTHING_GRANTED);
  });

  test("the picker lists every model, though it hides those that don't ask for it", async () => {
    expect(await it.chat.listed()).toEqual(expect.arrayContaining(MODELS));
    await shoot(it.page, it.run, "picker");
    await it.page.keyboard.press("Escape");
  });
});

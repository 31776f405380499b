// As a person who changes their mind: a message is edited, a checkpoint is restored and left again, an
// answer is stopped, the window is loaded anew. Whatever happens, the agent's model is sent what stands
// on the page, and each word of it once.

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, VIEW } from "./chat.ts";
import { Editor } from "./editor.ts";
import { OpenCode, PATIENCE, START } from "./opencode.ts";
import { shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

/** All that is said of names here. */
const NAMES = ["Ada", "Zoltan", "Quentin", "Dora", "Bob"];

let agent: OpenCode;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;
let traces: Traces;

beforeAll(async () => {
  agent = await OpenCode.start("continuity");
  editor = await Editor.start({ name: "continuity", settings: agent.settings });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  traces = new Traces(editor);
  chat = new Chat(page, VIEW, PATIENCE);
  await chat.opened();
  await chat.choose("OpenCode");
});

afterEach(({ task }) => shoot(page, "continuity", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await agent?.stop();
});

test("a checkpoint is restored and left again, in the same session", START, async () => {
  // The chat's first answer ends with the agent's commands, and no other does.
  expect(await chat.ask("my name is Ada")).toMatch(
    /^I hear you\.⌨️ Commands of this agent: .*\/init/,
  );
  for (const name of ["Zoltan", "Quentin"]) {
    expect(await chat.ask(`my name is ${name}`)).toBe("I hear you.");
  }
  await chat.restore("my name is Zoltan");
  expect(await shown()).toEqual(["Ada"]);
  await shoot(page, "continuity", "checkpoint");
  await chat.redo("my name is Quentin");
  expect(await shown()).toEqual(["Ada", "Zoltan", "Quentin"]);
  expect(await recalled()).toEqual({ names: ["Ada", "Zoltan", "Quentin"], wasToldAgain: false });
});

test("a message is edited, and the model never hears of what went", START, async () => {
  await chat.edit("my name is Zoltan", "my name is Dora");
  expect(await shown()).toEqual(["Ada", "Dora"]);
  expect(told(await newest("echo"))).toEqual(["Ada", "Dora"]);
  expect(await recalled()).toEqual({ names: ["Ada", "Dora"], wasToldAgain: true });
});

test("an answer is stopped in the middle, and what was asked is known once", async () => {
  await chat.send("my name is Bob. ENDLESS");
  await chat.shows("And on. And on.");
  await chat.stopButton.click();
  expect(await chat.finished()).toContain("And on.");
  await agent.leaves("ENDLESS");
  const before = await traces.sessions();
  expect((await recalled()).names).toEqual(["Ada", "Dora", "Bob"]);
  expect(await traces.sessions()).toEqual(before);
});

test("the window is loaded anew, and the chat goes on in the agent's session", START, async () => {
  await editor.keeps(/RECALL.*Ada Dora Bob/s);
  await chat.reload();
  await chat.shows("You told me: Ada Dora Bob.");
  const before = (await agent.asked()).length;
  expect((await recalled()).names).toEqual(["Ada", "Dora", "Bob"]);
  expect(await agent.asked()).toHaveLength(before + 1);
  const [earlier, later] = await traces.sessions();
  expect(earlier).not.toContain("session/resume");
  expect(later).toEqual(["session/resume"]);
});

/** Return the names in the messages that stand on the page. */
async function shown(): Promise<string[]> {
  const said = (await chat.rows()).filter(({ isResponse }) => !isResponse);
  return said.flatMap(({ text }) => /my name is (\w+)/.exec(text)?.[1] ?? []);
}

/** Ask what the model knows: what it was sent, which is also what it says, and whether as a record. */
async function recalled(): Promise<{ names: string[]; wasToldAgain: boolean }> {
  const answer = await chat.ask("RECALL");
  const body = await newest("RECALL");
  const names = told(body);
  expect(answer).toBe(`You told me: ${names.join(" ")}.`);
  return { names, wasToldAgain: JSON.stringify(body).includes("conversation_record") };
}

/** Return the names that the model was told, in order; each must be told once. */
function told(body: unknown): string[] {
  const text = JSON.stringify(body);
  const found = [...text.matchAll(/my name is (\w+)/g)].map(([, name]) => name ?? "");
  expect([...new Set(found)]).toEqual(found);
  expect(NAMES).toEqual(expect.arrayContaining(found));
  return found;
}

async function newest(scenario: string) {
  return (await agent.asked(scenario)).at(-1);
}

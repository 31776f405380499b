// As a person, with an endpoint that speaks Open Responses and wants a key. It keeps what was said, as a
// stateful server does, so what it is told each time shows what we think that it knows.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat, SAVED } from "./chat.ts";
import { Editor } from "./editor.ts";
import { type Asked, type Event, startEndpoint } from "./endpoint.ts";
import type { Program } from "./program.ts";
import { crop, shoot } from "./screenshots.ts";
import { Traces } from "./traces.ts";

const KEY = "a-key-that-nobody-else-may-see";

let endpoint: Program<Event>;
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  endpoint = await startEndpoint("endpoint-heard.jsonl", KEY);
  const open_responses = { baseUrl: endpoint.line, model: "small", apiKeyEnv: "ENDPOINT_KEY" };
  editor = await Editor.start({
    name: "endpoint",
    files: { "notes.txt": "Buy milk.\n" },
    settings: {
      "vscodelm.agents": { endpoint: { name: "Endpoint", agent: { open_responses } } },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
  await chat.choose("Endpoint");
});

afterEach(({ task }) => shoot(page, "endpoint", task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await endpoint?.stop();
});

test("a key that is missing is told, and works as soon as it is in the secret storage", async () => {
  expect(await chat.ask("hello")).toContain("ENDPOINT_KEY");
  await chat.command("vscodelm: Set Secret...");
  const widget = page.locator(".quick-input-widget");
  await widget.locator('input[placeholder="ANTHROPIC_API_KEY"]').fill("ENDPOINT_KEY");
  await page.keyboard.press("Enter");
  await widget.locator('input[type="password"]').fill(KEY);
  await crop(page, "endpoint", "secret", widget);
  await page.keyboard.press("Enter");
  await widget.waitFor({ state: "hidden" });
  await chat.newChat();
  expect(await chat.ask("hello")).toBe("Yes, indeed.");
});

test("an endpoint is told each word once, in a chat of three turns", async () => {
  await chat.newChat();
  await chat.ask("my name is Ada");
  await chat.ask("I like cats");
  expect(await chat.ask("what do you remember?")).toBe(
    "my name is Ada / I like cats / what do you remember?",
  );
  const [first, second, third] = (await chats()).slice(-3);
  expect(first?.previous_response_id).toBeUndefined();
  for (const [body, said] of [
    [second, "I like cats"],
    [third, "what do you remember?"],
  ] as const) {
    expect(body?.previous_response_id).toMatch(/^resp/);
    expect(JSON.stringify(body?.input)).toContain(said);
    expect(JSON.stringify(body?.input)).not.toContain("my name is Ada");
  }
});

test("an answer of an endpoint is asked for again, from where it was asked before", async () => {
  const before = await chats();
  expect(await chat.retry()).toBe("my name is Ada / I like cats / what do you remember?");
  const after = await chats();
  expect(after).toHaveLength(before.length + 1);
  expect(after.at(-1)?.previous_response_id).toBe(before.at(-1)?.previous_response_id);
});

test("an earlier message is edited, and the endpoint never hears of what was taken back", async () => {
  const before = await chats();
  expect(await chat.edit("I like cats", "I like dogs")).toBe("Yes, indeed.");
  const edited = (await chats()).at(-1);
  // It goes on from the answer before the message, which is the first of the chat.
  expect(edited?.previous_response_id).toBe(before.at(-3)?.previous_response_id);
  expect(await chat.ask("what do you remember?")).toBe(
    "my name is Ada / I like dogs / what do you remember?",
  );
});

test("who restores a checkpoint and leaves it again goes on from the last response", async () => {
  await chat.restore("I like dogs");
  await chat.redo("what do you remember?");
  const [before, after] = await remembersAll();
  expect(after?.previous_response_id).toMatch(/^resp/);
  expect(after?.previous_response_id).not.toBe(before?.previous_response_id);
});

test("the window is loaded anew, and the endpoint remembers no more and no less", async () => {
  await editor.keeps(/(?:dogs \/ what do you remember\?.*){3}/s);
  await chat.reload();
  await chat.shows("my name is Ada / I like dogs");
  const [before, after] = await remembersAll();
  // The editor gives other instructions as long as it looks for its skills; then all is told anew.
  const isInstructedAlike = after?.instructions === before?.instructions;
  expect(after?.previous_response_id !== undefined).toBe(isInstructedAlike);
});

test("an endpoint uses two of the editor's own tools at once, and changes a file", async () => {
  const made = join(editor.workspace, "made.txt");
  const notes = join(editor.workspace, "notes.txt");
  const uses = [
    `use read_file ${JSON.stringify({ filePath: notes, startLine: 1, endLine: 1 })}`,
    `use create_file ${JSON.stringify({ filePath: made, content: "by an endpoint" })}`,
  ];
  await chat.send(uses.join("\n"));
  await chat.shows(" and ");
  expect(await chat.finished()).toContain("Buy milk.");
  await expect.poll(() => readFile(made, "utf8"), SAVED).toBe("by an endpoint");
  const calls = await new Traces(editor).callsOfOneAnswer("endpoint");
  expect(calls).toEqual(["read_file", "create_file"]);
  const told = (await chats()).at(-1);
  expect(told?.input.map(({ type }) => type)).toEqual([
    "function_call_output",
    "function_call_output",
  ]);
  expect(JSON.stringify(told?.input[0])).toContain("Buy milk.");
});

test("an answer of an endpoint is stopped in the middle, and the chat goes on", async () => {
  await chat.send("slow");
  await chat.shows("once upon a time");
  await chat.stopButton.click();
  expect(await chat.finished()).toContain("once upon a time");
  await endpoint.keeps(({ hung_up }) => hung_up !== undefined);
  const remembered = await chat.ask("what do you remember?");
  expect(remembered).toMatch(/^my name is Ada \/ I like dogs .* slow \/ what do you remember\?$/s);
});

test("what an endpoint refuses is told in words", async () => {
  const answer = await chat.ask("quota");
  expect(answer).toContain("quota");
  expect(answer).not.toMatch(/extension\.cjs|\bat \w+.*:\d+:\d+/);
});

test("the key is in no file of the editor's, no log and no trace", async () => {
  const files = await readdir(editor.folder, { recursive: true, withFileTypes: true });
  const read = files.filter((file) => file.isFile());
  const places = read.map((file) => join(file.parentPath, file.name));
  const holds = await Promise.all(
    places.map(async (place) => ((await readFile(place)).includes(KEY) ? [place] : [])),
  );
  expect(places.some((place) => place.includes("/traces/"))).toBe(true);
  expect(holds.flat()).toEqual([]);
});

/** Ask what the endpoint remembers; return what it was asked before that, and then. */
async function remembersAll(): Promise<(Asked | undefined)[]> {
  const before = await chats();
  const remembered = await chat.ask("what do you remember?");
  const after = (await chats()).slice(before.length);
  expect(after).toHaveLength(1);
  const isTold = after[0]?.previous_response_id === undefined;
  expect(JSON.stringify(after[0]?.input).includes("Ada")).toBe(isTold);
  expect(remembered).toMatch(/^my name is Ada \/ I like dogs \/ what do you remember\?/);
  expect(remembered.split("Ada")).toHaveLength(2);
  return [before.at(-1), after[0]];
}

/** Return what the endpoint was asked for a chat, oldest first: editors ask it for titles, too. */
async function chats(): Promise<Asked[]> {
  const events = await endpoint.kept();
  return events.flatMap(({ body }) => (body?.tools?.length ? [body] : []));
}

// As a person whose VS Code runs its agent in the Agent Host: chats that are edited, forked, shortened,
// loaded again. Each test says what chat it goes on in, and asserts what the agent was told.

import { expect, test } from "vitest";
import { copyImage } from "../clipboard.ts";
import type { Asked } from "../traces.ts";
import { asks, MOMENT, started } from "./hosted.ts";

const RUN = "agent-host-chats";
const SUMMARY_PROMPT = "Please create a detailed summary of the conversation so far.";
const SUMMARISED = "onversation history has been summarized to free up context";
/** So much that a small window is full after two of them. */
const AT_LENGTH = Array.from({ length: 600 }, (_, at) => `This is sentence ${at} of many.`).join(
  " ",
);

const it = started({
  run: RUN,
  script: {
    otherwise: [MOMENT, { say: "I see." }],
    words: {
      "allow this": [MOMENT, ...asks("allowed")],
      "ask at once": asks("at-once"),
      "talk at length": [MOMENT, { say: AT_LENGTH }],
    },
  },
  variants: { small: { maxInputTokens: 20_000 } },
});

test("each chat is asked anew", async () => {
  for (const _chat of ["one", "another"]) {
    await it.chat.newChat();
    expect(await it.ask("hello")).toBe("I see.");
    await it.chat.send("allow this");
    await it.press("Allow Once");
    expect(await it.chat.words()).toContain("allowed");
  }
  expect(await it.outcomes()).toEqual(["once", "once"]);
  expect(await it.sessions()).toHaveLength(2);
});

test("an image is shown to the agent", async () => {
  await it.chat.newChat();
  await copyImage(it.page, 7, 5);
  await it.chat.input.click();
  await it.page.keyboard.press("Control+V");
  await it.page.locator(`${it.chat.root} .chat-attached-context-attachment`).waitFor();
  await it.shoot("an image in the box");
  expect(await it.ask("look at this")).toBe("I see.");
  const [prompt] = (await it.heard("session/prompt")).slice(-1);
  const images = prompt?.params?.prompt?.filter(({ type }) => type === "image") ?? [];
  expect(images.map(({ mimeType }) => mimeType)).toEqual(["image/png"]);
  expect(sizeOf(images[0]?.data)).toEqual([7, 5]);
});

test("an edited message takes the place of the one before", async () => {
  await it.chat.newChat();
  expect(await it.ask("alpha")).toBe("I see.");
  expect(await it.ask("beta")).toBe("I see.");
  await it.chat.edit("beta", "gamma");
  expect(await it.chat.words()).toBe("I see.");
  const last = (await it.agent.prompts()).at(-1);
  expect(last?.texts.join("\n")).toContain("alpha");
  expect(last?.texts.join("\n")).not.toContain("beta");
  expect(last?.texts.at(-1)).toBe("gamma");
});

test("what comes after a restored checkpoint is forgotten", async () => {
  await it.chat.restore("gamma");
  await it.chat.input.click();
  await it.page.keyboard.press("Control+A"); // the message that was taken back is proposed again
  await it.page.keyboard.press("Delete");
  expect(await it.ask("delta")).toBe("I see.");
  const last = (await it.agent.prompts()).at(-1);
  expect(last?.texts.at(-1)).toBe("delta");
  expect(last?.texts.join("\n")).not.toContain("gamma");
});

test("a chat goes on in its session after the window was loaded again", async () => {
  const before = await it.agent.prompts();
  await it.reload();
  await open("alpha");
  expect(await it.ask("epsilon")).toBe("I see.");
  const prompts = (await it.agent.prompts()).slice(before.length);
  expect(prompts).toEqual([{ session: before.at(-1)?.session, texts: ["epsilon"] }]);
});

test("a compacted chat goes on in its session", async () => {
  const [{ session } = { session: "" }] = (await it.agent.prompts()).slice(-1);
  await it.chat.send("/compact");
  const [summary] = await summaries("scripted");
  expect(summary?.options.tools ?? []).toEqual([]);
  await it.page.waitForTimeout(3_000); // the host takes the summary over
  expect(await it.ask("zeta")).toBe("I see.");
  expect(JSON.stringify((await it.requests()).at(-1)?.messages)).toContain(SUMMARISED);
  expect(await toldIn(session)).toEqual(["delta", "epsilon", "zeta"]);
});

test("a fork of the chat has a session of its own, and the chat goes on in its", async () => {
  const [{ session } = { session: "" }] = (await it.agent.prompts()).slice(-1);
  await it.chat.fork("zeta");
  expect(await it.ask("in the fork")).toBe("I see.");
  const last = (await it.agent.prompts()).at(-1);
  expect(last?.texts.at(-1)).toBe("in the fork");
  expect(last?.texts.join("\n")).not.toContain("zeta");
  expect(last?.session).not.toBe(session);
  await it.chat.newChat();
  await open("alpha");
  expect(await it.ask("eta")).toBe("I see.");
  expect((await it.agent.prompts()).at(-1)).toEqual({ session, texts: ["eta"] });
});

test("a chat that is summed up while it goes on stays in its session", async () => {
  await it.chat.newChat();
  await it.chat.choose("Scripted small");
  for (let turn = 0; turn < 4; turn++) {
    expect(await it.ask("talk at length")).toContain("sentence 599");
  }
  const [summary] = await summaries("small");
  expect(summary?.options.tools?.length).toBeGreaterThan(10);
  const [{ session } = { session: "" }] = (await it.agent.prompts()).slice(-1);
  expect(await it.ask("and now?")).toBe("I see.");
  expect(JSON.stringify((await it.requests("small")).at(-1)?.messages)).toContain(SUMMARISED);
  expect(await toldIn(session)).toEqual([...Array(4).fill("talk at length"), "and now?"]);
  await it.chat.choose("Scripted agent");
});

// Where the window doesn't know the chat yet, it asks in a dialog. With luck it knows.
test("a question that comes at once in a new chat is denied where it is asked", async () => {
  await it.chat.newChat();
  const before = (await it.outcomes()).length;
  await it.chat.send("ask at once");
  const dialog = it.page.locator(".monaco-dialog-box");
  await it.chat.question.or(dialog).first().waitFor();
  await it.shoot("a question at once");
  console.log(`The question was in ${(await dialog.isVisible()) ? "a dialog" : "the chat"}.`);
  await it.page
    .locator(".monaco-button", { hasText: /^(Skip|Cancel)/ })
    .last()
    .click();
  expect(await it.chat.words()).toContain("denied");
  expect((await it.outcomes()).slice(before)).toEqual(["no"]);
});

test("the agent found no fault with us", async () => {
  expect(await it.agent.faults()).toEqual([]);
});

/** Open a chat from the list of those that there were; a fork has another name. */
async function open(title: string): Promise<void> {
  const item = it.page.locator(".agent-session-item", { hasText: title, hasNotText: "Forked" });
  await item.click();
  await it.chat.shows("I see.");
}

/** Wait for the host's requests for a summary, and return them. */
async function summaries(model: string): Promise<Asked[]> {
  for (let tries = 0; tries < 300; tries++) {
    const found = (await it.requests(model)).filter(({ messages }) =>
      messages.at(-1)?.content.some(({ value }) => String(value).startsWith(SUMMARY_PROMPT)),
    );
    if (found.length > 0) {
      return found;
    }
    await it.page.waitForTimeout(100);
  }
  throw new Error("the host asked for no summary");
}

/** Return the newest text of each prompt in a session. */
async function toldIn(session: string): Promise<(string | undefined)[]> {
  const prompts = (await it.agent.prompts()).filter((prompt) => prompt.session === session);
  return prompts.map(({ texts }) => texts.at(-1));
}

/** Return the width and the height of a PNG. */
function sizeOf(data = ""): number[] {
  const png = Buffer.from(data, "base64");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

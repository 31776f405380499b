// As a person whose VS Code runs its agent in the Agent Host: the turns of a chat. Each test goes on in
// the chat of the one before, and asserts what the agent was told. SHORT=yes runs the first ones.

import { join } from "node:path";
import { expect, test } from "vitest";
import { ASKS_BY_FORM } from "../agent.ts";
import { OUTPUT } from "../places.ts";
import { NOTHING_GRANTED, proposals } from "../proposals.ts";
import { asks, inWorkspace, MOMENT, started } from "./hosted.ts";

const RUN = "agent-host";
const [ONE, TWO] = ["one.txt", "two.txt"].map((name) => inWorkspace(RUN, name));
const PROPOSED = join(OUTPUT, `${RUN}-agents/proposer.json`);
/** As many rounds as a turn of an hour takes for its progress, and some more. */
const ROUNDS = 200;
const { SHORT, LONG } = process.env;

/** A turn that says a word every second, so many times; a cancel ends it. */
function words(count: number): object[] {
  return Array.from({ length: count }, (_, at) => [{ sleep: 1 }, { say: `word${at} ` }]).flat();
}

/** A turn that reads a file so many times, one after the other. */
function reads(count: number): object[] {
  const read = (at: number) => [
    { call: "view", with: { path: ONE }, as: `view${at}` },
    { gather: true },
  ];
  return Array.from({ length: count }, (_, at) => read(at)).flat();
}

const it = started({
  run: RUN,
  files: { "one.txt": "This is one.", "two.txt": "This is two." },
  extensions: ["proposer"],
  env: { PROPOSER_OUTPUT: PROPOSED },
  models: { eliza: { agent: { eliza: { deterministic: true } } } },
  script: {
    otherwise: [MOMENT, { say: "I see." }],
    words: {
      "allow this": [MOMENT, ...asks("allowed")],
      "skip this": [MOMENT, ...asks("skipped")],
      "ask me first": [MOMENT, ...ASKS_BY_FORM],
      "stop this question": [MOMENT, ...asks("stopped")],
      "read both": [
        MOMENT,
        // A shell is slower, so its result is the second that is done.
        { call: "bash", with: { command: `cat ${ONE}`, description: "Read one" }, as: "first:" },
        { call: "view", with: { path: TWO }, as: "second:" },
        { gather: true },
        { results: "own" },
      ],
      "stop this soon": words(60),
      "stop this late": words(90),
      "take your time": words(45),
      "take eleven minutes": words(660),
      "read often": [MOMENT, ...reads(ROUNDS), { say: "read to the end" }],
      fail: [{ error: { code: -32603, message: "The disk is full" } }],
    },
  },
});

test("no extension has a proposed API here", async () => {
  expect(await proposals(PROPOSED)).toEqual(NOTHING_GRANTED);
});

test("three turns are told to one session", async () => {
  for (const text of ["one", "two", "three"]) {
    expect(await it.ask(text)).toBe("I see.");
  }
  expect(await it.told()).toEqual(["one", "two", "three"]);
  expect(await it.sessions()).toHaveLength(1);
});

test("what is allowed is allowed", async () => {
  await it.chat.send("allow this");
  await it.chat.question.waitFor();
  await it.shoot("the question");
  await it.press("Allow Once");
  expect(await it.chat.words()).toContain("allowed");
  expect(await it.outcomes()).toEqual(["once"]);
});

test("what is skipped is denied", async () => {
  await it.chat.send("skip this");
  await it.press("Skip");
  expect(await it.chat.words()).toContain("denied");
  expect((await it.outcomes()).at(-1)).toBe("no");
});

test("a form stays while its user thinks, and the agent gets what was chosen", async () => {
  await it.chat.send("ask me first");
  const form = it.page.locator(".quick-input-widget:visible");
  await form.filter({ hasText: "Scripted agent asks: Colour" }).waitFor();
  await it.page.waitForTimeout(6_000); // responses end after two seconds where nobody is asked
  await it.shoot("a form of an agent");
  await form.locator(".monaco-list-row", { hasText: "blue" }).first().click();
  expect(await it.chat.words()).toContain('accept {"colour": "blue"}');
});

test("a stop in the first seconds reaches the agent within 12 s", async () => {
  const before = await it.cancels();
  await it.chat.send("stop this soon");
  await it.page.waitForTimeout(3_000);
  await it.chat.stopButton.click();
  await it.tillCancelled(before, 12);
  expect(await it.ask("after the soon stop")).toBe("I see.");
  expect(await it.sessions()).toHaveLength(1);
});

test("the user reads why the agent failed", async () => {
  await it.chat.send("fail");
  await it.chat.shows("The disk is full");
  await it.chat.finished();
  expect((await it.told()).filter((text) => text === "fail")).toHaveLength(1);
});

test.skipIf(SHORT)(
  "a question that is stopped cancels the turn, as soon as the next message comes",
  async () => {
    const before = await it.cancels();
    const [session] = (await it.sessions()).slice(-1);
    await it.chat.send("stop this question");
    await it.chat.question.waitFor();
    await it.chat.stopButton.click();
    expect(await it.ask("after the question")).toBe("I see.");
    expect(await it.cancels()).toBe(before + 1);
    expect((await it.agent.prompts()).at(-1)).toMatchObject({ session });
  },
);

test.skipIf(SHORT)("two tools at once bring two results, each to its own call", async () => {
  await it.chat.send("read both");
  expect(await it.chat.words()).toMatch(/first:.*This is one\..*second:.*This is two\./s);
  const results = (await it.requests()).at(-1)?.messages.flatMap(({ content }) => content);
  const ids = results?.filter(({ type }) => type === "tool_result").map((one) => one.toolCallId);
  expect(new Set(ids?.slice(-2)).size).toBe(2);
});

test.skipIf(SHORT)(
  "the answer is seen while it grows, and a later stop reaches the agent within 30 s",
  { timeout: 150_000 },
  async () => {
    const before = await it.cancels();
    await it.chat.send("stop this late");
    await it.chat.shows("word5");
    await it.page.waitForTimeout(15_000);
    await it.shoot("the answer grows");
    await it.chat.stopButton.click();
    await it.tillCancelled(before, 30);
    const [session] = (await it.sessions()).slice(-1);
    expect(await it.ask("after the late stop")).toBe("I see.");
    expect((await it.agent.prompts()).at(-1)).toMatchObject({ session });
  },
);

test.skipIf(SHORT)(
  "a long turn is done once, and each of its words is seen once",
  { timeout: 150_000 },
  async () => {
    await it.chat.send("take your time");
    await it.chat.finished();
    // The editor folds what came before the last step.
    await it.chat.response.getByText(/^Completed \d+ steps/).click();
    await it.chat.shows("word0");
    const answer = await it.chat.newest();
    for (let at = 0; at < 45; at++) {
      expect(answer.match(new RegExp(`word${at}(?!\\d)`, "g")), `word${at}`).toHaveLength(1);
    }
    expect((await it.told()).filter((text) => text === "take your time")).toHaveLength(1);
  },
);

// LONG=yes. The host gives a request up after ten minutes, and sends it once more.
test.runIf(LONG)("a turn of eleven minutes is done once", { timeout: 900_000 }, async () => {
  const before = (await it.requests()).length;
  await it.chat.send("take eleven minutes");
  await it.chat.finished(800_000);
  await it.chat.shows("word659");
  expect((await it.told()).filter((text) => text === "take eleven minutes")).toHaveLength(1);
  console.log(`The turn took ${(await it.requests()).length - before} requests.`);
});

test.runIf(LONG)("the host doesn't limit the rounds of a turn", { timeout: 900_000 }, async () => {
  const before = (await it.requests()).length;
  await it.chat.send("read often");
  await it.chat.finished(800_000);
  await it.chat.shows("read to the end");
  expect((await it.requests()).length - before).toBeGreaterThan(ROUNDS);
});

test("the agent found no fault with us", async () => {
  expect(await it.agent.faults()).toEqual([]);
});

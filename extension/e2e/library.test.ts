// As a library: another extension uses our models through `vscode.lm`, in the real editor.

import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Editor } from "./editor.ts";
import { type Event, startEndpoint } from "./endpoint.ts";
import { OUTPUT } from "./places.ts";
import type { Program } from "./program.ts";
import { NOTHING_GRANTED, proposals } from "./proposals.ts";
import { Traces } from "./traces.ts";

const agents = join(OUTPUT, "library-agents");
const result = join(agents, "consumer.json");
const proposed = join(agents, "proposer.json");
const scripted = new ScriptedAgent(agents, "scripted");
const locked = new ScriptedAgent(agents, "locked");
let endpoint: Program<Event>;
let editor: Editor;
let context: BrowserContext;
// biome-ignore lint/suspicious/noExplicitAny: what the consumer wrote; the tests say what it must be
let got: any;

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  endpoint = await startEndpoint("library-agents/endpoint.jsonl");
  const open_responses = { baseUrl: endpoint.line, model: "small" };
  editor = await Editor.start({
    name: "library",
    extensions: ["consumer", "proposer"],
    env: { CONSUMER_OUTPUT: result, PROPOSER_OUTPUT: proposed },
    settings: {
      "vscodelm.agents": {
        scripted: await scripted.model({
          words: {
            memory: [{ memory: true }],
            hang: [{ say: "one moment" }, { hang: true }],
            quota: [{ error: { code: -32603, message: "429 Too Many Requests: quota exceeded" } }],
          },
          otherwise: [{ say: "I " }, { say: "see." }],
        }),
        locked: await locked.model({
          agent: { authMethods: [{ id: "key", name: "Use a key", description: "Set it." }] },
          login_needed: ["session/new"],
          on: { authenticate: [{ error: { code: -32000, message: "no key" } }] },
        }),
        endpoint: { agent: { open_responses } },
        missing: { agent: { acp: { command: "/nowhere/agent" } } },
      },
    },
  });
  context = await openBrowser(editor);
  await openWindow(context, editor);
  for (let tries = 0; tries < 1800; tries++) {
    const text = await readFile(result, "utf8").catch(() => "");
    if (text !== "") {
      got = JSON.parse(text);
      return;
    }
    await sleep(100);
  }
  throw new Error("the consumer didn't finish");
});

afterAll(async () => {
  await context?.close();
  await editor?.stop();
  await endpoint?.stop();
});

test("every agent of the settings is a model, and Eliza is there by default", () => {
  expect(got.failed).toBeUndefined();
  expect(got.models.map(({ id }: { id: string }) => id).sort()).toEqual([
    "eliza",
    "endpoint",
    "locked",
    "missing",
    "scripted",
  ]);
  expect(got.models).toContainEqual({
    id: "scripted",
    name: "Scripted scripted",
    family: "scripted",
    version: "1",
    maxInputTokens: 1_000_000,
  });
});

test("no proposed API is granted, as in a desktop VS Code, and the models are there all the same", async () => {
  expect(await proposals(proposed)).toEqual(NOTHING_GRANTED);
});

test("an answer streams, in more than one piece", () => {
  expect(got.stream.text.split(/\s+/).length).toBeGreaterThanOrEqual(200);
  expect(got.stream.chunks).toBeGreaterThan(1);
});

test("thinking arrives as thinking", () => {
  expect(got.thinking.thinking).not.toBe("");
  expect(got.thinking.text).not.toContain(got.thinking.thinking);
});

test("two tools are called in one response, and each result answers its own call", () => {
  const { first, second } = got.twoTools;
  expect(
    first.calls.map(({ name, input }: { name: string; input: object }) => [name, input]),
  ).toEqual([
    ["alpha", { path: "a.txt" }],
    ["beta", { path: "b.txt" }],
  ]);
  expect(second.text).toMatch(/alpha.*the result of alpha.*beta.*the result of beta/s);
});

test("an agent is told only what is new, and remembers the rest", async () => {
  expect(got.memory.first.text).toBe("I see.");
  expect(got.memory.second.text).toBe("remember one / memory");
  const prompts = await scripted.prompts();
  expect(prompts.slice(0, 2).map(({ texts }) => texts)).toEqual([["remember one"], ["memory"]]);
  expect(prompts[0]?.session).toBe(prompts[1]?.session);
});

test("an image reaches the agent", async () => {
  expect(got.image.text).toBe("I see.");
  const heard = await scripted.heard();
  const blocks = heard.flatMap(({ params }) => params?.prompt ?? []);
  const image = blocks.find(({ type }) => type === "image");
  expect(image?.mimeType).toBe("image/png");
  expect(image?.data).toMatch(/^iVBORw0KGgo/);
});

test("a cancel reaches the agent, and the chat goes on in the same session", async () => {
  expect(got.cancel.text).toBe("one moment");
  expect(got.cancel.after.text).toBe("I see.");
  const heard = await scripted.heard();
  const cancelled = heard.find(({ method }) => method === "session/cancel")?.params?.sessionId;
  const prompts = await scripted.prompts();
  const after = prompts.find(({ texts }) => texts.at(-1) === "and now?");
  expect(after?.session).toBe(cancelled);
});

test("each kind of error is a LanguageModelError with its code", () => {
  expect(got.notFound).toMatchObject({ code: "NotFound", isLanguageModelError: true });
  expect(got.notFound.message).toContain("/nowhere/agent");
  expect(got.noPermissions).toMatchObject({ code: "NoPermissions", isLanguageModelError: true });
  expect(got.noPermissions.message).toContain("Log in");
  expect(got.blocked).toMatchObject({ code: "Blocked", isLanguageModelError: true });
  expect(got.agentFailed.message).not.toBe("");
  expect(got.agentFailed.code).not.toMatch(/NotFound|NoPermissions|Blocked/);
});

test("tokens are counted in the editor: not one is asked of the program", async () => {
  expect(got.tokens.text).toBeGreaterThan(50);
  expect(got.tokens.text).toBeLessThan(200);
  expect(got.tokens.message).toBeGreaterThan(got.tokens.text);
  expect(got.tokens.message).toBeLessThan(got.tokens.text + 20);
  const traces = new Traces(editor);
  expect(await traces.lines("lm/provideTokenCount")).toEqual([]);
  expect(await traces.lines("lm/provideLanguageModelChatResponse")).not.toEqual([]);
});

test("an endpoint streams, and is told only what is new", async () => {
  expect(got.endpointMemory.first).toMatchObject({ text: "Yes, indeed.", chunks: 3 });
  expect(got.endpointMemory.second.text).toBe("remember one / what do you remember?");
  const [first, second] = (await asked()).slice(2);
  expect(first?.input).toEqual([{ type: "message", role: "user", content: "remember one" }]);
  expect(second?.previous_response_id).toMatch(/^resp/);
  const news = [{ type: "message", role: "user", content: "what do you remember?" }];
  expect(second?.input).toEqual(news);
});

test("an endpoint calls two tools in one response, and both results come back at once", async () => {
  const { first, second } = got.endpointTools;
  expect(
    first.calls.map(({ name, input }: { name: string; input: object }) => [name, input]),
  ).toEqual([
    ["alpha", { path: "a.txt" }],
    ["beta", { path: "b.txt" }],
  ]);
  // In whichever order: each carries the id of its call.
  expect(second.text.split(" and ").sort()).toEqual(["the result of alpha", "the result of beta"]);
  const results = (await asked())[1]?.input as { type: string; call_id: string; output: string }[];
  expect(results.map(({ type }) => type)).toEqual(["function_call_output", "function_call_output"]);
  const ids = first.calls.map(({ callId }: { callId: string }) => callId);
  expect(results.map(({ call_id }) => `gw-${call_id}`).sort()).toEqual(ids.sort());
});

test("an image reaches an endpoint", async () => {
  expect(got.endpointImage.text).toBe("I see images: 1.");
  const told = (await asked()).find(({ input }) => JSON.stringify(input).includes('"look"'));
  expect(JSON.stringify(told)).toContain("data:image/png;base64,iVBORw0KGgo");
});

test("a cancel hangs up on an endpoint, and the chat goes on", async () => {
  expect(got.endpointCancel.text).toContain("once upon");
  await endpoint.keeps(({ hung_up }) => hung_up !== undefined);
  expect(got.endpointCancel.after.text).toMatch(/^slow .*what do you remember\?$/);
});

test("what an endpoint refuses is a LanguageModelError with its code", () => {
  expect(got.endpointBlocked).toMatchObject({ code: "Blocked", isLanguageModelError: true });
  expect(got.endpointBlocked.message).toContain("quota");
});

test("the agent found no fault with us", async () => {
  expect(await scripted.faults()).toEqual([]);
});

/** Return what the endpoint was asked, oldest first. */
async function asked() {
  return (await endpoint.kept()).flatMap(({ body }) => (body ? [body] : []));
}

import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, test, vi } from "vitest";
import { Elicitations } from "../../src/elicitation/elicitations.ts";
import type { ElicitParams } from "../../src/program/wire.ts";
import { boxNow, type FakeInputBox, type FakeQuickPick } from "../boxes.ts";
import { openAnew, person } from "../vscode.ts";

type List = FakeQuickPick<{ label: string; description?: string; detail?: string }>;

let elicitations: Elicitations;
let cancel: AbortController;

beforeEach(() => {
  openAnew();
  cancel = new AbortController();
  const log = (line: string) => person.log.push(line);
  elicitations = new Elicitations((id) => id.toUpperCase(), { info: log, warn: log });
});

const ask = (params: Partial<ElicitParams>, signal = cancel.signal) =>
  elicitations.ask({ requestId: 1, message: "Who are you?", ...params }, "eliza", signal);
const form = (properties: object, required: string[] = []) =>
  ask({ requestedSchema: { type: "object", properties, required } });

async function shown<Box = FakeInputBox>(title?: string): Promise<Box> {
  return vi.waitFor(() => {
    const box = boxNow();
    expect(box?.title).toContain(title ?? "");
    return box as Box;
  });
}

const NAME = { type: "string", title: "Name", description: "Your first name", minLength: 2 };
const COLOR = {
  type: "string",
  title: "Color",
  oneOf: [
    { const: "r", title: "Red $(x)" },
    { const: "g", title: "Green", description: "Like grass" },
  ],
  default: "g",
};
const DAYS = {
  type: "array",
  title: "Days",
  items: { enum: ["Mo", "Tu", "We"] },
  minItems: 1,
  maxItems: 2,
  default: ["Tu"],
};

test("a form is filled in field by field; each says who asks, what for, and how far it is", async () => {
  const answer = form({ name: NAME, color: COLOR, days: DAYS, ok: { type: "boolean" } }, ["name"]);
  const name = await shown("Name");
  expect(name).toMatchObject({
    title: "ELIZA asks: Name",
    prompt: "Who are you? Your first name",
    step: 1,
    totalSteps: 4,
    value: "",
    password: false,
    ignoreFocusOut: true,
  });
  name.type("Ada");
  name.enter();
  const color = await shown<List>("Color");
  expect(color).toMatchObject({ title: "ELIZA asks: Color (optional)", step: 2, totalSteps: 4 });
  expect(color.labels).toEqual(["Red \\$(x)", "Green", "Skip"]);
  expect(color.activeItems.map(({ label }) => label)).toEqual(["Green"]);
  expect(color.items[1]?.detail).toBe("Like grass");
  color.click("Red \\$(x)");
  const days = await shown<List>("Days");
  expect(days).toMatchObject({ canSelectMany: true, placeholder: "Choose 1 to 2" });
  expect(days.selectedItems.map(({ label }) => label)).toEqual(["Tu"]);
  days.click("Mo");
  days.enter();
  (await shown<List>("ok")).click("No");
  expect(await answer).toEqual({
    action: "accept",
    content: { name: "Ada", color: "r", days: ["Mo", "Tu"], ok: false },
  });
  expect(boxNow()).toBeUndefined();
  expect(person.log).toEqual(["eliza: its agent's question was answered: accept"]);
});

test("a wrong value is told, and can be put right", async () => {
  const answer = form({ name: NAME }, ["name"]);
  const box = await shown();
  box.enter();
  expect(box.validationMessage).toBe("This is needed.");
  box.type("A");
  expect(box.validationMessage).toContain("At least 2 characters");
  box.enter();
  box.type("");
  expect(box.validationMessage).toBeUndefined(); // nobody is told off before they have typed
  box.type("Ada");
  expect(box.validationMessage).toBeUndefined();
  box.enter();
  expect(await answer).toEqual({ action: "accept", content: { name: "Ada" } });
});

test("too many options are told, and can be taken back", async () => {
  const answer = form({ days: DAYS }, ["days"]);
  const box = await shown<List>();
  box.type("e"); // only some are seen
  box.click("Mo");
  box.click("We");
  box.enter();
  expect(box).toMatchObject({ placeholder: "Choose at most 2.", value: "" });
  box.click("Tu");
  expect(box.placeholder).toBe("Choose 1 to 2");
  box.enter();
  expect(await answer).toEqual({ action: "accept", content: { days: ["Mo", "We"] } });
});

test("optional fields can be skipped", async () => {
  const optional = {
    color: COLOR,
    days: { ...DAYS, default: undefined },
    note: { type: "string" },
  };
  const answer = form({ ...optional, ok: { type: "boolean", default: true } });
  (await shown<List>("Color")).click("Skip");
  (await shown<List>("Days")).enter();
  (await shown("note")).enter();
  (await shown<List>("ok")).click("Skip");
  expect(await answer).toEqual({ action: "accept", content: {} });
});

test("Back keeps what was entered in every kind of field, and the first one has no Back", async () => {
  const answer = form({ name: NAME, days: DAYS, color: COLOR }, ["name", "days", "color"]);
  const name = await shown("Name");
  expect(() => name.press()).toThrow("no button");
  name.type("Ada");
  name.enter();
  const days = await shown<List>("Days");
  days.click("We");
  days.press();
  const again = await shown("Name");
  expect(again.value).toBe("Ada");
  again.enter();
  const kept = await shown<List>("Days");
  expect(kept.selectedItems.map(({ label }) => label)).toEqual(["Tu", "We"]);
  kept.enter();
  (await shown<List>("Color")).press();
  (await shown<List>("Days")).enter();
  (await shown<List>("Color")).click("Green");
  expect(await answer).toEqual({
    action: "accept",
    content: { name: "Ada", days: ["Tu", "We"], color: "g" },
  });
});

test("what is secret is hidden, and the log has no value", async () => {
  const answer = form({ pin: { type: "string", format: "password" } }, ["pin"]);
  const box = await shown();
  expect(box.password).toBe(true);
  box.type("1234");
  box.enter();
  await answer;
  expect(person.log.join()).not.toContain("1234");
});

test("a number is one in the answer", async () => {
  const answer = form({ age: { type: "integer", minimum: 0, default: 36 } });
  const box = await shown();
  expect(box).toMatchObject({
    value: "36",
    placeholder: "A whole number of at least 0",
    prompt: "Who are you? A whole number of at least 0",
  });
  box.enter();
  expect(await answer).toEqual({ action: "accept", content: { age: 36 } });
});

test("each kind of box can be declined", async () => {
  for (const property of [NAME, COLOR, DAYS]) {
    const answer = form({ a: property });
    (await shown()).press("Decline");
    expect(await answer).toEqual({ action: "decline" });
  }
});

test("Escape, or another box of the editor, cancels", async () => {
  for (const property of [NAME, COLOR, DAYS]) {
    const answer = form({ a: property });
    (await shown()).hide();
    expect(await answer).toEqual({ action: "cancel" });
  }
});

test("a form without fields asks for a yes", async () => {
  for (const [label, result] of [
    ["Accept", { action: "accept", content: {} }],
    ["Decline", { action: "decline" }],
  ] as const) {
    const answer = form({});
    const box = await shown<List>();
    expect(box).toMatchObject({ title: "ELIZA asks you to confirm", prompt: "Who are you?" });
    box.enter(); // nothing is chosen
    expect(boxNow()).toBe(box);
    box.click(label);
    expect(await answer).toEqual(result);
  }
  const answer = form({});
  (await shown()).hide();
  expect(await answer).toEqual({ action: "cancel" });
});

test("a box closes when the answer isn't wanted any more", async () => {
  const answer = form({ a: NAME });
  const box = await shown();
  cancel.abort();
  expect(boxNow()).toBeUndefined();
  expect(box.isDisposed).toBe(true);
  expect(await answer).toEqual({ action: "cancel" });
});

test("questions come one after the other, and a cancelled one is never shown", async () => {
  const gone = new AbortController();
  const first = form({ first: NAME });
  const second = ask({ requestedSchema: { properties: { second: NAME } } }, gone.signal);
  const wrong = ask({ requestedSchema: 3 }, gone.signal);
  const third = ask({ url: "https://example.org/" });
  const box = await shown("Name");
  await turn();
  expect(boxNow()).toBe(box);
  gone.abort();
  box.press("Decline");
  expect(await first).toEqual({ action: "decline" });
  expect(await Promise.all([second, wrong])).toEqual([{ action: "cancel" }, { action: "cancel" }]);
  expect(person.asked).toEqual([]);
  (await shown<List>("open a page")).click("Decline");
  expect(await third).toEqual({ action: "decline" });
});

test("a page is opened as its address says, after its host was shown", async () => {
  const url = "https://example.org:8443/a?redirect_uri=http%3A%2F%2Flocalhost%3A1%2F&b=c%26d";
  const answer = ask({ url });
  const box = await shown<List>();
  expect(box).toMatchObject({ title: "ELIZA asks you to open a page", prompt: "Who are you?" });
  expect(box.labels).toEqual(["Open example.org:8443", "Copy the address", "Decline"]);
  expect(box.items[0]).toMatchObject({ description: "", detail: url });
  box.click("Open example.org:8443");
  expect(await answer).toEqual({ action: "accept" });
  expect(person.pages).toEqual([url]);
});

test("what is odd about an address stands beside it", async () => {
  const answer = ask({ url: "http://github.com@xn--gthub-cta.com/" });
  const box = await shown<List>();
  expect(box.items[0]).toMatchObject({
    label: "Open xn--gthub-cta.com",
    description:
      "not encrypted, the name has letters that aren't ASCII, the address holds a user name before the host",
  });
  cancel.abort();
  await answer;
});

test("a page that the person doesn't let the editor open can be opened elsewhere", async () => {
  person.opensPages = false;
  const answer = ask({ url: "https://example.org/a" });
  (await shown<List>()).click("Open example.org");
  await vi.waitFor(() => expect(boxNow()).toBeDefined());
  (await shown<List>()).click("Copy the address");
  await vi.waitFor(() =>
    expect((boxNow() as unknown as List)?.labels).toContain("I have opened the page"),
  );
  expect(person.clipboard).toBe("https://example.org/a");
  (await shown<List>()).click("I have opened the page");
  expect(await answer).toEqual({ action: "accept" });
  expect(person.pages).toEqual([]);
});

test.each([
  [{ url: "file:///etc/passwd" }, `its address isn't that of a web page: it begins with "file:"`],
  [{ url: 3 }, "its address can't be read"],
  [{ requestedSchema: { type: "array" } }, "its schema isn't that of an object"],
  [{ requestedSchema: { properties: { a: 3 }, required: ["a"] } }, `its field "a" isn't an object`],
  [{}, "it has neither a form nor a page"],
])(
  "%j can't be shown: the person and the log are told, and the agent goes on",
  async (params, why) => {
    expect(await ask(params)).toEqual({ action: "cancel" });
    expect(person.log).toEqual([`eliza: its agent's question can't be shown: ${why}`]);
    expect(person.asked).toEqual([
      `ELIZA has a question that can't be shown: ${why}. The agent goes on without an answer.`,
    ]);
    const next = form({ a: NAME });
    (await shown()).press("Decline");
    expect(await next).toEqual({ action: "decline" });
  },
);

test("an optional field that can't be shown is left out, and the log says so", async () => {
  const answer = form({ a: NAME, b: { type: "object" } });
  const box = await shown();
  expect(box.step).toBeUndefined(); // the only one
  box.type("Ada");
  box.enter();
  expect(await answer).toEqual({ action: "accept", content: { a: "Ada" } });
  expect(person.log[0]).toContain(`A form is shown without an optional field: its field "b"`);
});

test("a message that isn't a text is none", async () => {
  const answer = ask({ message: { a: 1 }, requestedSchema: { properties: { name: NAME } } });
  expect((await shown()).prompt).toBe("Your first name");
  cancel.abort();
  await answer;
});

test("no text of an agent becomes a link or an icon, wherever it is shown", async () => {
  const text = "[a](command:workbench.action.quit) $(x)";
  const safe = "[a]\u200b(command:workbench.action.quit) \\$(x)";
  const option = { const: text, title: text, description: text };
  const properties = {
    name: { type: "string", title: text, description: text, pattern: "^\\[a\\]\\(command:x\\)$" },
    color: { type: "string", oneOf: [option] },
  };
  const answer = ask({ message: text, requestedSchema: { properties } });
  const name = await shown();
  expect(name.title).not.toContain("](");
  expect(name.prompt).toBe(`${safe} · ${safe}`);
  name.type("wrong");
  expect(name.validationMessage).not.toContain("](command");
  name.type("");
  name.enter();
  const color = await shown<List>("color");
  expect(color.items[0]).toMatchObject({ label: safe, detail: safe });
  color.click(safe);
  expect(await answer).toEqual({ action: "accept", content: { color: text } });
  await ask({ requestedSchema: { properties: { [text]: 3 }, required: [text] } });
  expect(person.asked[0]).not.toContain("](");
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { MODELS_LISTED_WITHIN_MS } from "../../src/limits.ts";
import { addModelGroup, findModel, openChat } from "../../src/setup/open_chat.ts";
import { chat, openAnew, person } from "../vscode.ts";

let ids: string[];

beforeEach(() => {
  vi.useFakeTimers();
  openAnew();
  ids = ["mine"];
  vscode.lm.registerLanguageModelChatProvider("vscodelm", {
    provideLanguageModelChatInformation: () =>
      ids.map((id) => ({ id })) as vscode.LanguageModelChatInformation[],
    provideLanguageModelChatResponse: async () => {},
    provideTokenCount: async () => 1,
  });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a new chat has the model, and nothing is sent in it", async () => {
  await openChat("mine");
  expect(person.ran).toEqual([
    ["workbench.action.chat.newChat"],
    [
      "workbench.action.chat.open",
      {
        query: "",
        isPartialQuery: true,
        modelSelector: { vendor: "vscodelm", id: "mine" },
      },
    ],
  ]);
});

test("a message is sent if there is one", async () => {
  await openChat("mine", "Hello");
  expect(person.ran.at(-1)?.[1]).toMatchObject({ query: "Hello", isPartialQuery: false });
});

test("a model that is listed late is waited for, and given up after a while", async () => {
  expect(await findModel("mine")).toMatchObject({ id: "mine" });
  ids = [];
  const found = findModel("mine");
  setTimeout(() => {
    ids = ["mine"];
    chat.listed.fire();
  }, MODELS_LISTED_WITHIN_MS - 1);
  await vi.advanceTimersByTimeAsync(MODELS_LISTED_WITHIN_MS);
  expect(await found).toMatchObject({ id: "mine" });
  const missing = findModel("other");
  await vi.advanceTimersByTimeAsync(MODELS_LISTED_WITHIN_MS);
  expect(await missing).toBeUndefined();
});

test("the group of models is added once, and another failure is told", async () => {
  await addModelGroup();
  await addModelGroup();
  expect(chat.groups).toHaveLength(1);
  person.lacks = "lm.addLanguageModelsProviderGroup";
  await expect(addModelGroup()).rejects.toThrow("not found");
});

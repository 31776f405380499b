import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { ChatAnswer } from "../../src/chat/provider.ts";
import {
  CHAT_STARTS_WITHIN_MS,
  ELIZA_ANSWERS_WITHIN_MS,
  MODELS_LISTED_WITHIN_MS,
} from "../../src/limits.ts";
import { setUpChat } from "../../src/setup/chat_setup.ts";
import { chat, openAnew, person, providerOf } from "../vscode.ts";

const SUCCESS = expect.stringContaining("Eliza has answered");
const ADD = "lm.addLanguageModelsProviderGroup";
const ENABLE = "workbench.extensions.installExtension";
let answered: vscode.EventEmitter<ChatAnswer>;
/** Why Eliza fails. */
let failure: string | undefined;
let models: string[];

beforeEach(() => {
  vi.useFakeTimers();
  openAnew();
  answered = new vscode.EventEmitter();
  failure = undefined;
  models = ["another", "eliza"];
  vscode.lm.registerLanguageModelChatProvider("vscodelm", {
    provideLanguageModelChatInformation: () =>
      models.map((id) => ({ id })) as vscode.LanguageModelChatInformation[],
    provideLanguageModelChatResponse: async ({ id }) => {
      answered.fire({ model: "another" });
      answered.fire(failure === undefined ? { model: id } : { model: id, failure });
    },
    provideTokenCount: async () => 1,
  });
  chat.isOn = false;
});

afterEach(() => {
  vi.useRealTimers();
});

/** Set up the chat; return what the person is told if it fails. */
async function failureOfSetup(findProgram = async (): Promise<unknown> => "vscodelm") {
  let failed = "";
  const setup = setUpChat({ findProgram, onDidAnswerChat: answered.event }).catch((error) => {
    failed = error.message;
  });
  const end = CHAT_STARTS_WITHIN_MS + MODELS_LISTED_WITHIN_MS + ELIZA_ANSWERS_WITHIN_MS;
  await vi.advanceTimersByTimeAsync(end);
  await setup;
  return failed;
}

test("the chat of a new editor is switched on without an account, and Eliza answers in it", async () => {
  expect(await failureOfSetup()).toBe("");
  expect(chat).toMatchObject({ isOn: true, dialogs: 0, chats: 1 });
  expect(chat.groups).toEqual([{ vendor: "vscodelm", name: "vscodelm" }]);
  expect(person.status).toEqual([SUCCESS]);
  expect(person.ran[0]).toEqual(["setContext", "vscodelm.isInstalled", true]);
  expect(person.ran).toContainEqual(["setContext", "vscodelm.chatAnswers", true]);
});

test("a chat that was set up before is only tried", async () => {
  chat.isOn = true;
  chat.groups.push({ vendor: "vscodelm", name: "vscodelm" });
  expect(await failureOfSetup()).toBe("");
  expect(person.ran.map(([name]) => name)).not.toContain(ENABLE);
  expect(chat.groups).toHaveLength(1);
  expect(person.status).toEqual([SUCCESS]);
});

test("models that are listed late are waited for", async () => {
  models = [];
  setTimeout(() => {
    models = ["eliza"];
    chat.listed.fire();
  }, MODELS_LISTED_WITHIN_MS - 1000);
  expect(await failureOfSetup()).toBe("");
});

test.each<[string, () => void, RegExp]>([
  [
    "an editor that knows no groups of models",
    () => {
      person.lacks = ADD;
    },
    /Adding vscodelm to your models: command '.*' not found\. Run "Chat: Manage Language Models"/,
  ],
  [
    "an editor that can't switch its chat on",
    () => {
      person.lacks = ENABLE;
    },
    /Switching the chat on: command '.*' not found\. In the settings, tick "chat.disableAIFeatures"/,
  ],
  [
    "a chat that somebody else forbids",
    () => {
      chat.isForbidden = true;
    },
    /Switching the chat on: the extension GitHub.copilot-chat is still disabled\. In the settings/,
  ],
  [
    "a list of models without Eliza",
    () => {
      models = ["another"];
    },
    /Looking for the models: VS Code doesn't list Eliza\. Check the setting "vscodelm.agents"/,
  ],
  [
    "a chat that asks for an account all the same",
    () => {
      chat.insistsOnAccount = true;
    },
    /Asking Eliza in the chat: the chat sent no request to Eliza\. Close the sign-in dialog/,
  ],
  [
    "an answer that fails",
    () => {
      failure = "the program has ended.";
    },
    /Asking Eliza in the chat: the program has ended\. Close/,
  ],
])(
  "%s: the person is told which step failed, what to do, and nothing of success",
  async (_, spoil, words) => {
    spoil();
    expect(await failureOfSetup()).toMatch(words);
    expect(person.asked).toEqual([]);
    expect(person.ran).not.toContainEqual(["setContext", "vscodelm.chatAnswers", true]);
  },
);

test("without the program nothing of the editor is changed", async () => {
  const failed = await failureOfSetup(async () => {
    throw new Error("vscodelm isn't installed.");
  });
  expect(failed).toMatch(/Installing vscodelm: vscodelm isn't installed\. Then set up the chat/);
  expect(person.ran).toEqual([]);
  expect(providerOf("vscodelm")).toBeDefined();
});

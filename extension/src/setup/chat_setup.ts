// Setting up the editor's own chat for a person without an account. In a new VS Code the chat is switched off,
// and it asks for an account unless a group of models is the person's own. Each step is checked, and the last
// one asks Eliza in the chat itself: nothing else shows that no sign-in dialog stands in the way.

import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import type { ChatAnswer } from "../chat/provider.ts";
import { CHAT_STARTS_WITHIN_MS, ELIZA_ANSWERS_WITHIN_MS } from "../limits.ts";
import { happening } from "../waiting.ts";
import { addModelGroup, findModel, openChat } from "./open_chat.ts";
import { reach } from "./welcome_steps.ts";

export const CHAT_EXTENSION = "GitHub.copilot-chat";
const GREETING = "Hello";
const ELIZA = "eliza";

/** Time that the message of success is shown. */
const SUCCESS_SHOWN_MS = 60_000;

interface ChatSetup {
  /** Make sure that the program is there, and ask the person before it is installed. */
  findProgram(): Promise<unknown>;
  onDidAnswerChat: vscode.Event<ChatAnswer>;
}

interface Step {
  name: string;
  /** The way that is left to the user. */
  byHand: string;
  run(): Promise<void>;
}

/** Run all steps; tell the person which one failed, or that Eliza has answered. */
export async function setUpChat({ findProgram, onDidAnswerChat }: ChatSetup): Promise<void> {
  await run({
    name: "Installing vscodelm",
    byHand: "Then set up the chat again.",
    run: async () => void (await findProgram()), // it shows its own progress
  });
  await reach("isInstalled");
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Setting up the chat" },
    async () => {
      for (const step of steps(onDidAnswerChat)) {
        await run(step);
      }
    },
  );
  await reach("chatAnswers");
  // Not a notification: it would lie over the chat's input, where the person goes on.
  vscode.window.setStatusBarMessage(
    "$(check) The chat works without an account: Eliza has answered.",
    SUCCESS_SHOWN_MS,
  );
}

async function run({ name, byHand, run }: Step): Promise<void> {
  try {
    await run();
  } catch (error) {
    const why = messageOf(error).replace(/\.$/, "");
    throw new Error(`The chat isn't set up yet. ${name}: ${why}. ${byHand}`);
  }
}

function steps(onDidAnswerChat: vscode.Event<ChatAnswer>): Step[] {
  return [
    {
      name: "Adding vscodelm to your models",
      byHand: 'Run "Chat: Manage Language Models" and add vscodelm there.',
      run: addModelGroup,
    },
    {
      name: "Switching the chat on",
      byHand: 'In the settings, tick "chat.disableAIFeatures" and untick it again.',
      run: switchChatOn,
    },
    {
      name: "Looking for the models",
      byHand: 'Check the setting "vscodelm.agents": Eliza must be in it for this test.',
      run: findEliza,
    },
    {
      name: "Asking Eliza in the chat",
      byHand:
        'Close the sign-in dialog if there is one, run "Developer: Reload Window", and set up the chat again.',
      run: () => askEliza(onDidAnswerChat),
    },
  ];
}

async function switchChatOn(): Promise<void> {
  const find = () => vscode.extensions.getExtension(CHAT_EXTENSION);
  if (find() === undefined) {
    await vscode.commands.executeCommand("workbench.extensions.installExtension", CHAT_EXTENSION, {
      enable: true,
    });
  }
  const chat = await happening(vscode.extensions.onDidChange, find, CHAT_STARTS_WITHIN_MS);
  if (chat === undefined) {
    throw new Error(`the extension ${CHAT_EXTENSION} is still disabled`);
  }
  await chat.activate();
}

async function findEliza(): Promise<void> {
  if ((await findModel(ELIZA)) === undefined) {
    throw new Error("VS Code doesn't list Eliza");
  }
}

/** Send a message in the chat, as the person would. A chat that wants an account never asks the model. */
async function askEliza(onDidAnswerChat: vscode.Event<ChatAnswer>): Promise<void> {
  const answer = happening(
    onDidAnswerChat,
    (given) => (given?.model === ELIZA ? given : undefined),
    ELIZA_ANSWERS_WITHIN_MS,
  );
  await openChat(ELIZA, GREETING);
  const given = await answer;
  if (given === undefined) {
    throw new Error("the chat sent no request to Eliza");
  }
  if (given.failure !== undefined) {
    throw new Error(given.failure);
  }
}

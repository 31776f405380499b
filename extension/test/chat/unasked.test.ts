import { beforeEach, expect, test } from "vitest";
import { UnaskedQuestions, unaskedIn } from "../../src/chat/unasked.ts";
import { MAX_TOLD_QUESTIONS } from "../../src/limits.ts";
import { type Message, PERMISSION_TOOL } from "../../src/program/wire.ts";
import { openAnew, person } from "../vscode.ts";

/** As code-server 4.139 without proposals says it. */
const HOOK =
  "ERROR while calling tool: Extension 'vscodelm.vscodelm' CANNOT use API proposal: " +
  "chatParticipantPrivate.\nIts package.json#enabledApiProposals-property declares: .\n" +
  "Please check your input and try again.";

let log: string[];
let questions: UnaskedQuestions;

beforeEach(() => {
  openAnew();
  log = [];
  questions = new UnaskedQuestions({ error: (line) => log.push(`${line}`) });
});

const text = (value: string) => ({ type: "text", value });
const call = (id: string, toolName = PERMISSION_TOOL) => ({
  type: "tool_call",
  toolCallId: id,
  toolName,
  parameters: { title: "Run it" },
});
const result = (id: string, ...values: string[]) => ({
  type: "tool_result",
  toolCallId: id,
  result: values.map(text),
});
const user = (...content: Message["content"]): Message => ({ role: "user", content });
const assistant = (...content: Message["content"]): Message => ({ role: "assistant", content });

test("a hook that wants to ask is recognised, and the user is told what to do", () => {
  questions.look([user(text("go")), assistant(text("well"), call("1")), user(result("1", HOOK))]);
  expect(log).toEqual([
    "the editor could not ask the agent's question 1: Extension 'vscodelm.vscodelm' CANNOT use " +
      "API proposal: chatParticipantPrivate.",
  ]);
  expect(person.asked).toEqual([expect.stringContaining('a PreToolUse hook answered "ask"')]);
});

test("a question by the tool's former name is one, too", () => {
  questions.look([assistant(call("1", "agentAction")), user(result("1", HOOK))]);
  expect(log).toHaveLength(1);
});

test("a question that couldn't be asked for another reason is told, too", () => {
  const failed = result("1", "ERROR while calling tool: ", "no such tool\nPlease check");
  questions.look([assistant(call("1")), user(failed)]);
  expect(log).toEqual(["the editor could not ask the agent's question 1: no such tool"]);
  expect(person.asked).toEqual([expect.stringMatching(/could not ask you.*See the log/)]);
});

test.each([
  ["an approval", [assistant(call("1")), user(result("1", "Approved"))]],
  ["a skipped question", [assistant(call("1")), user(result("1", "The user skipped it."))]],
  ["an error of another tool", [assistant(call("1", "read_file")), user(result("1", HOOK))]],
  ["a result without its call", [assistant(text("hm")), user(result("1", HOOK))]],
  ["a result of another call", [assistant(call("1")), user(result("2", HOOK))]],
  ["words of the user", [assistant(call("1")), user(text(HOOK))]],
  ["an earlier question", [assistant(call("1")), user(result("1", HOOK)), assistant(text("a"))]],
  ["a result that isn't a list", [assistant(call("1")), user({ ...result("1"), result: 3 })]],
  ["a result of no parts", [assistant(call("1")), user({ ...result("1"), result: [null, 3] })]],
  ["nothing", []],
])("%s is no question that couldn't be asked", (_, messages) => {
  expect(unaskedIn(messages)).toEqual([]);
});

test("results may be in several messages, each question is told once, and the user once for all", () => {
  const messages = [
    assistant(call("1"), call("2"), call("3")),
    user(result("1", HOOK)),
    user(result("2", "Approved"), result("3", HOOK)),
  ];
  questions.look(messages);
  questions.look(messages);
  expect(log).toHaveLength(2);
  expect(person.asked).toHaveLength(1);
});

test("it is remembered of so many questions, and of no more", () => {
  const asked = (id: number) => [assistant(call(`${id}`)), user(result(`${id}`, HOOK))];
  for (let id = 0; id < MAX_TOLD_QUESTIONS; id++) {
    questions.look(asked(id));
  }
  questions.look(asked(0));
  expect(log).toHaveLength(MAX_TOLD_QUESTIONS);
  questions.look(asked(MAX_TOLD_QUESTIONS));
  questions.look(asked(1));
  expect(log).toHaveLength(MAX_TOLD_QUESTIONS + 1);
  questions.look(asked(0));
  expect(log).toHaveLength(MAX_TOLD_QUESTIONS + 2);
});

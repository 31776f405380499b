import { expect, test } from "vitest";
import { Questions } from "../../src/chat/questions.ts";
import { MAX_OPEN_QUESTIONS } from "../../src/limits.ts";
import type { Part, ToolCallPart } from "../../src/program/wire.ts";
import { asker, callOf, resultOf } from "../questions.ts";

/** Ask a question, and return what the editor is given of it. */
function ask(questions: Questions, callId: string): unknown {
  const part: Part = questions.take(callOf(callId, { title: callId, kind: "execute" }), asker);
  return (part as ToolCallPart).parameters;
}

test("the editor has no parameters of a question, and so shows none", () => {
  const questions = new Questions();
  expect(ask(questions, "a")).toEqual({});
  expect(questions.find({})?.title).toBe("a");
});

test("two questions that are out are told apart", () => {
  const questions = new Questions();
  expect([ask(questions, "a"), ask(questions, "b"), ask(questions, "c")]).toEqual([
    {},
    { question: "1" },
    { question: "2" },
  ]);
  expect(questions.find({ question: "2" })?.callId).toBe("c");
  expect(questions.find({})?.callId).toBe("a");
  expect(questions.find({ question: "3" })).toBeUndefined();
});

test("a call without a number never means a later question", () => {
  const questions = new Questions();
  ask(questions, "a");
  const first = questions.find({});
  if (first) {
    first.isAnswered = true; // its result isn't back yet, so its call may come once more
  }
  expect(ask(questions, "b")).toEqual({ question: "1" });
  expect(questions.find({})).toBeUndefined();
  questions.settle([resultOf("b")]);
  expect(ask(questions, "c")).toEqual({ question: "2" });
  questions.settle([resultOf("x"), resultOf("a")]);
  expect(ask(questions, "d")).toEqual({});
  expect(questions.find({})?.callId).toBe("d");
  expect(questions.find({ question: "1" })).toBeUndefined();
});

test("other parts stay as they are", () => {
  const questions = new Questions();
  const parts: Part[] = [
    { type: "text", value: "hi" },
    { type: "tool_call", toolCallId: "a", toolName: "read_file", parameters: { path: "x" } },
  ];
  for (const part of parts) {
    expect(questions.take(part, asker)).toBe(part);
  }
  expect(questions.find({})).toBeUndefined();
});

test("only so many questions wait, and the oldest goes first", () => {
  const questions = new Questions();
  for (let count = 0; count <= MAX_OPEN_QUESTIONS; count++) {
    ask(questions, `call ${count}`);
  }
  expect(questions.find({})).toBeUndefined();
  expect(questions.find({ question: "1" })?.callId).toBe("call 1");
});

import { expect, test } from "vitest";
import { OpenCalls } from "../../src/chat/open_calls.ts";
import { MAX_OPEN_CALLS } from "../../src/limits.ts";
import type { Message, Part } from "../../src/program/wire.ts";

const call = (id: string): Part => ({
  type: "tool_call",
  toolCallId: id,
  toolName: "t",
  parameters: {},
});
const result = (id: string): Part => ({ type: "tool_result", toolCallId: id, result: [] });
const text = (value: string): Part => ({ type: "text", value });
const user = (...content: Part[]): Message => ({ role: "user", content });
const agent = (...content: Part[]): Message => ({ role: "assistant", content });

function opened(...ids: string[]): OpenCalls {
  const calls = new OpenCalls();
  ids.forEach((id) => void calls.sent(call(id)));
  return calls;
}

test("parts that call nothing open nothing", () => {
  const calls = opened();
  for (const part of [text("a"), result("a"), null as unknown as Part, { type: "tool_call" }]) {
    calls.sent(part);
  }
  expect(calls.size).toBe(0);
});

test.each<[string, boolean, Message[]]>([
  ["a first message", false, [user(text("a"))]],
  ["a result", true, [agent(call("one")), user(result("one"))]],
  ["a result in a later message", true, [agent(call("one")), user(text("b")), user(result("one"))]],
  ["the user's own words instead", true, [user(text("a")), agent(call("one")), user(text("b"))]],
  ["a result without its call", true, [user(result("one"))]],
  ["another chat's result", false, [agent(call("two")), user(result("two"))]],
  ["what an older answer called", false, [agent(call("one")), agent(text("b")), user(text("c"))]],
])("%s concerns the calls: %s", (_, does, messages) => {
  const calls = opened("one", "other");
  expect(calls.concern(messages)).toBe(does);
  calls.close(messages);
  expect(calls.size).toBe(does ? 1 : 2);
  expect(calls.concern(messages)).toBe(false);
});

test("of too many calls the oldest is forgotten", () => {
  const calls = opened(...Array.from({ length: MAX_OPEN_CALLS + 1 }, (_, index) => `${index}`));
  expect(calls.size).toBe(MAX_OPEN_CALLS);
  expect(calls.concern([user(result("0"))])).toBe(false);
  expect(calls.concern([user(result("1"))])).toBe(true);
});

import { expect, test } from "vitest";
import {
  Failure,
  lastWordsOf,
  toLanguageModelError,
  toShownError,
} from "../../src/chat/failures.ts";
import { ConnectionClosed, RpcError } from "../../src/program/connection.ts";

const failed = (kind: string) => new RpcError(-32000, "Log in.", { kind, detail: "401" });

test.each([
  ["NoPermissions", "NoPermissions"],
  ["Blocked", "Blocked"],
  ["NotFound", "NotFound"],
  ["AgentFailed", ""],
  ["Unavailable", ""],
  ["Internal", ""],
  ["SomethingNewer", ""],
])("%s has the code %j, its message, and no stack", (kind, code) => {
  const error = toLanguageModelError(failed(kind));
  expect([error.code, error.message, error.stack]).toEqual([code, "Log in.", ""]);
});

test("an error of the protocol says that it is one", () => {
  const error = toLanguageModelError(new RpcError(-32602, "Expected `str` - at `$.modelId`"));
  expect(error.message).toBe("vscodelm refused the request: Expected `str` - at `$.modelId`");
  expect(error.code).toBe("");
});

test("who lost the process is told to ask again", () => {
  const error = toLanguageModelError(new ConnectionClosed("vscodelm has ended."));
  expect(error.message).toMatch(/^vscodelm has ended\. Send your message again to restart it/);
});

test("failures of ours have codes, and other things are said as they are", () => {
  expect(toLanguageModelError(new Failure("NotFound", "Nowhere.")).code).toBe("NotFound");
  expect(toLanguageModelError("odd").message).toBe("odd");
});

test("an agent's last words are for the log", () => {
  const error = new RpcError(-32000, "It died.", { kind: "AgentFailed", stderrTail: "boom" });
  expect(lastWordsOf(error)).toBe("boom");
  expect(lastWordsOf(failed("Blocked"))).toBeUndefined();
  expect(lastWordsOf(new Error("x"))).toBeUndefined();
});

test("what a person is shown is the message alone", () => {
  const error = toShownError(failed("Blocked"));
  expect([error.name, error.message, error.stack]).toEqual(["Error", "Log in.", ""]);
});

test.each([failed("AgentFailed"), failed("Internal"), new Error("Log in.")])(
  "an error that nobody explains leads to a report of the problem",
  (error) => {
    expect(toShownError(error).message).toMatch(/^Log in\. .*"vscodelm: Report a Problem"/);
    expect(toLanguageModelError(error).message).toBe("Log in.");
  },
);

test.each([
  new RpcError(-32000, "Log in.", {
    ...{ kind: "AgentFailed", detail: "" },
    fixes: [{ type: "settings", title: "Open Settings" }],
  }),
  failed("Unavailable"),
  new Failure("NotFound", "Log in."),
])("an error that says what to do says nothing else", (error) => {
  expect(toShownError(error).message).toBe("Log in.");
});

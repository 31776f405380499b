import { expect, test } from "vitest";
import * as vscode from "vscode";
import { capabilities, thinkingPartClass } from "../src/chat/features.ts";
import { partFromWire, UNKNOWN_MIME_TYPE } from "../src/chat/incoming.ts";
import { messageToWire, optionsToWire, partToWire } from "../src/chat/outgoing.ts";
import { encode } from "../src/json.ts";
import type { Message, Part } from "../src/program/wire.ts";
import { withoutThinking } from "./vscode.ts";

const bytes = Uint8Array.of(0, 255, 10, 92);
const Thinking = thinkingPartClass();
if (Thinking === undefined) {
  throw new Error("the fake editor has thinking parts");
}

const pairs: [string, unknown, Part][] = [
  ["text", new vscode.LanguageModelTextPart("a\r\nb😀"), { type: "text", value: "a\r\nb😀" }],
  [
    "a tool call",
    new vscode.LanguageModelToolCallPart("id", "read_file", { path: "a", 1: [null, 1.5] }),
    {
      type: "tool_call",
      toolCallId: "id",
      toolName: "read_file",
      parameters: { path: "a", 1: [null, 1.5] },
    },
  ],
  [
    "data",
    new vscode.LanguageModelDataPart(bytes, "image/png"),
    { type: "data", mimeType: "image/png", data: "AP8KXA==" },
  ],
  [
    "thinking",
    new Thinking(["so", "then"], "t1", { signature: "x" }),
    { type: "thinking", value: ["so", "then"], id: "t1", metadata: { signature: "x" } },
  ],
  [
    "a result with parts in it",
    new vscode.LanguageModelToolResultPart("id", [
      new vscode.LanguageModelTextPart("one"),
      new vscode.LanguageModelDataPart(bytes, "image/png"),
      new vscode.LanguageModelToolResultPart("inner", [new vscode.LanguageModelTextPart("two")]),
    ]),
    {
      type: "tool_result",
      toolCallId: "id",
      result: [
        { type: "text", value: "one" },
        { type: "data", mimeType: "image/png", data: "AP8KXA==" },
        { type: "tool_result", toolCallId: "inner", result: [{ type: "text", value: "two" }] },
      ],
    },
  ],
];

test.each(pairs)("%s is the same on both sides", (_, part, wire) => {
  expect(partToWire(part)).toEqual(wire);
  expect(partFromWire(JSON.parse(JSON.stringify(wire)))).toEqual(part);
});

test("bytes in the middle of a larger buffer are those bytes alone", () => {
  const middle = new Uint8Array(Uint8Array.from([9, 9, ...bytes, 9]).buffer, 2, 4);
  const wire = partToWire(new vscode.LanguageModelDataPart(middle, "x/y"));
  expect(wire).toEqual({ type: "data", mimeType: "x/y", data: "AP8KXA==" });
});

test("a part of an unknown class is carried under its name", () => {
  class LanguageModelHologramPart {
    constructor(readonly rays: number) {}
  }
  expect(partToWire(new LanguageModelHologramPart(3))).toEqual({
    type: "vscode/LanguageModelHologramPart",
    value: { rays: 3 },
  });
  expect(partToWire("words")).toEqual({ type: "vscode/string", value: "words" });
  expect(partToWire(undefined)).toEqual({ type: "vscode/undefined", value: undefined });
  expect(partToWire(Object.create(null))).toEqual({ type: "vscode/object", value: {} });
});

test("a part of an unknown kind is carried in data that editors pass over", () => {
  const part = partFromWire({ type: "hologram", rays: 3 }) as vscode.LanguageModelDataPart;
  expect(part.mimeType).toBe(UNKNOWN_MIME_TYPE);
  expect(JSON.parse(Buffer.from(part.data).toString())).toEqual({ type: "hologram", rays: 3 });
});

test("rendered trees, audiences and errors of results are carried", () => {
  expect(partToWire(new vscode.LanguageModelPromptTsxPart({ node: [1] }))).toEqual({
    type: "prompt_tsx",
    value: { node: [1] },
  });
  const text = Object.assign(new vscode.LanguageModelTextPart("hm"), { audience: [1] });
  expect(partToWire(text)).toEqual({ type: "text", value: "hm", audience: [1] });
  const failed = Object.assign(new vscode.LanguageModelToolResultPart("id", []), { isError: true });
  expect(partToWire(failed)).toMatchObject({ isError: true });
  const worked = Object.assign(new vscode.LanguageModelToolResultPart("id", []), {
    isError: false,
  });
  expect(partToWire(worked)).not.toHaveProperty("isError");
});

test.each([
  [1, "user"],
  [2, "assistant"],
  [3, "system"],
  [99, "user"],
])("role %d is %s", (role, word) => {
  expect(messageToWire({ role, content: [], name: undefined }).role).toBe(word);
});

test("a name is there when it was given, an empty one, too", () => {
  expect(messageToWire({ role: 1, content: [], name: undefined })).toEqual({
    role: "user",
    content: [],
  });
  expect(messageToWire({ role: 1, content: [], name: "" }).name).toBe("");
  expect(messageToWire({ role: 1, content: [], name: "alice" }).name).toBe("alice");
});

test("options go whole, also those that the declarations don't know", () => {
  const tool = { name: "read_file", description: "Read.", inputSchema: { type: "object" } };
  const options = {
    tools: [tool, { name: "bare", description: "" }],
    toolMode: 2,
    modelOptions: { _conversationId: "c", temperature: 0.5 },
    modelConfiguration: { effort: "high" },
    requestInitiator: "github.copilot-chat",
  };
  expect(optionsToWire(options)).toEqual({ ...options, toolMode: "required" });
  expect(optionsToWire({ toolMode: 1 })).toEqual({ toolMode: "auto" });
});

test("an editor without thinking parts is sent none, and says so first", () => {
  expect(capabilities()).toEqual({
    thinking: true,
    data: true,
    usage: true,
    marker: true,
    progress: true,
    elicit: true,
    readTextFile: true,
    changes: true,
    changedFiles: true,
  });
  withoutThinking(() => {
    expect(capabilities().thinking).toBe(false);
    expect(partFromWire({ type: "thinking", value: "hm" })).toBeUndefined();
  });
});

test("thinking without an id or more has none", () => {
  const part = partFromWire({ type: "thinking", value: "hm", id: null, metadata: null });
  expect(part).toEqual(new Thinking("hm", undefined, undefined));
});

test("usage and marker arrive byte by byte", () => {
  for (const mimeType of ["usage", "stateful_marker"]) {
    const sent = Buffer.from('eliza\\vscodelm-x{"prompt_tokens":1}');
    const part = partFromWire({ type: "data", mimeType, data: sent.toString("base64") });
    expect(part).toEqual(new vscode.LanguageModelDataPart(new Uint8Array(sent), mimeType));
  }
});

test("a result that is no list of parts becomes one", () => {
  expect(partFromWire({ type: "tool_result", toolCallId: "id", result: "words" })).toEqual(
    new vscode.LanguageModelToolResultPart("id", [new vscode.LanguageModelTextPart("words")]),
  );
  expect(partFromWire({ type: "tool_result", toolCallId: "id", result: { a: 1 } })).toEqual(
    new vscode.LanguageModelToolResultPart("id", [{ a: 1 }]),
  );
});

// Every kind of part at once, in many forms: what is drawn is the same at each run.

let seed = 7;
function drawn(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return (seed >>> 8) % below;
}

const WORDS = [
  "",
  " ",
  "a\r\nb",
  "\u2028",
  "😀",
  "\ud83d",
  "\u0000",
  '"\\',
  "toolCallId",
  "é".repeat(99),
];
const word = () => WORDS[drawn(WORDS.length)] as string;
const someOf = <T>(draw: () => T) => Array.from({ length: drawn(4) }, draw);

function json(depth = 3): unknown {
  const leaves = [null, true, 0, -1.5, 2 ** 53, word(), [], {}];
  switch (drawn(depth > 0 ? 4 : 2)) {
    case 2:
      return someOf(() => json(depth - 1));
    case 3:
      return Object.fromEntries(someOf(() => [`${word()}k`, json(depth - 1)]));
    default:
      return leaves[drawn(leaves.length)];
  }
}

function bytesOf(): Uint8Array {
  return Uint8Array.from({ length: drawn(300) }, () => drawn(256));
}

function part(depth = 3): unknown {
  const MadeThinking = Thinking as NonNullable<typeof Thinking>;
  switch (drawn(depth > 0 ? 6 : 4)) {
    case 0:
      return new vscode.LanguageModelTextPart(word());
    case 1:
      return new vscode.LanguageModelToolCallPart(word(), word(), { a: json() });
    case 2:
      return new vscode.LanguageModelDataPart(bytesOf(), `image/${word()}`);
    case 3:
      return drawn(2)
        ? new MadeThinking(someOf(word), word(), { s: json() })
        : new MadeThinking(word(), undefined, undefined);
    default:
      return new vscode.LanguageModelToolResultPart(
        word(),
        someOf(() => part(depth - 1)),
      );
  }
}

test("whatever parts a message has, they come back from the wire as they were", () => {
  const kinds = new Set<string>();
  for (let number = 0; number < 2000; number++) {
    const message = { role: 1 + drawn(3), name: word(), content: someOf(() => part()) };
    const line = encode(messageToWire(message));
    expect(line).not.toContain("\n");
    const back = JSON.parse(line) as Message;
    expect(back.content.map(partFromWire)).toEqual(message.content);
    expect([back.role, back.name]).toEqual([
      ["user", "assistant", "system"][message.role - 1],
      message.name,
    ]);
    for (const { type } of back.content) {
      kinds.add(type);
    }
  }
  expect(kinds).toEqual(new Set(["text", "tool_call", "data", "thinking", "tool_result"]));
});

test("what the wire has comes back to it as it was, nested as it may be", () => {
  for (let number = 0; number < 2000; number++) {
    const sent = JSON.parse(encode(partToWire(part(4)))) as Part;
    expect(JSON.parse(encode(partToWire(partFromWire(sent))))).toEqual(sent);
  }
});

test("a part that nobody knows, inside a result, is carried there, too", () => {
  class LanguageModelHologramPart {
    constructor(readonly rays: unknown) {}
  }
  for (let number = 0; number < 200; number++) {
    const rays = json();
    const result = new vscode.LanguageModelToolResultPart("id", [
      new vscode.LanguageModelPromptTsxPart({ rays }),
      new LanguageModelHologramPart(rays),
    ]);
    expect(JSON.parse(encode(partToWire(result)))).toEqual({
      type: "tool_result",
      toolCallId: "id",
      result: [
        { type: "prompt_tsx", value: { rays } },
        { type: "vscode/LanguageModelHologramPart", value: { rays } },
      ],
    });
  }
});

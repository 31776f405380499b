import { expect, test } from "vitest";
import type { MarkdownString } from "vscode";
import { AgentAction, APPROVED } from "../src/agent_action.ts";
import { diff } from "../src/diff.ts";
import { block, inline } from "../src/markdown.ts";
import { type Question, showQuestion } from "../src/permission.ts";

test("a question shows the command, the change and the places", () => {
  const { title, message } = showQuestion({
    title: "Run the tests",
    kind: "execute",
    note: "Approving is for good: Always",
    rawInput: { command: ["sh", "-c", "it's fine"] },
    diff: [{ path: "a.txt", oldText: "one\ntwo\n", newText: "one\n2\n" }],
    content: ["because"],
    locations: ["src/a.ts:3"],
  });
  expect(title).toBe("The agent asks: Run a command");
  expect(message).toBe(
    [
      "**Run the tests**",
      "⚠️ Approving is for good\\: Always",
      "```sh\nsh -c 'it'\\''s fine'\n```",
      "Change: a\\.txt",
      "```diff\n  one\n- two\n+ 2\n```",
      "```\nbecause\n```",
      "In src/a\\.ts\\:3",
    ].join("\n\n"),
  );
});

test("the bridge's own message is shown as it is, and without icons", () => {
  const message = "OpenCode asks:\n\n```sh\nls $(check)\n```";
  const input = { title: "ls", kind: "execute", message, rawInput: { command: "ls $(check)" } };
  expect(showQuestion(input)).toEqual({ title: "Run a command?", message });
  expect(showQuestion({ message }).title).toBe("Allow this?");
  const shown = new AgentAction().prepareInvocation({ input }).confirmationMessages
    ?.message as MarkdownString;
  expect([shown.value, shown.isTrusted, shown.supportThemeIcons]).toEqual([
    message,
    undefined,
    false,
  ]);
});

test("what is neither command nor change is shown as it is", () => {
  const { message } = showQuestion({ title: "Fetch", rawInput: { url: "https://example.org" } });
  expect(message).toContain('```json\n{\n  "url": "https://example.org"\n}\n```');
  expect(showQuestion({ title: "Fetch", rawInput: {} }).message).toBe("**Fetch**");
});

test("a file that wasn't there is a new one", () => {
  const { message } = showQuestion({ diff: [{ path: "b", oldText: null, newText: "x" }, 1] });
  expect(message).toBe("**Use a tool**\n\nNew file: b\n\n```diff\n+ x\n```");
});

test("a question of an unknown shape is still a question", () => {
  expect(showQuestion({ title: 3, kind: 4, diff: 5, content: {}, locations: [6] })).toEqual({
    title: "The agent asks for permission",
    message: "**Use a tool**",
  });
});

test("odd questions are asked all the same: an error here would answer them with no", () => {
  const nested: unknown = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const rawInput of [nested, circle, { big: 2n ** 70n }, "text", 3, null, [undefined]]) {
    expect(showQuestion({ title: "Do it", rawInput }).message).toContain("**Do it**");
  }
  const fences = "` ".repeat(300_000);
  expect(showQuestion({ title: "Do it", content: [fences] }).message).toContain(fences);
  for (const input of [undefined, null]) {
    const asked = new AgentAction().prepareInvocation({ input: input as unknown as Question });
    expect(asked.confirmationMessages?.title).toBe("The agent asks for permission");
  }
});

test("nothing that an agent writes is Markdown or ends its block", () => {
  const evil = "**Safe** [click](command:evil) `x` <b> $(check)\n\n# Approved";
  expect(inline(evil)).toBe(
    "\\*\\*Safe\\*\\* \\[click\\]\\(command\\:evil\\) \\`x\\` \\<b\\> \\$\\(check\\) \\# Approved",
  );
  const code = "a\n```\n# heading\n````\nb";
  expect(block(code)).toBe(`\`\`\`\`\`\n${code}\n\`\`\`\`\``);
});

test("a diff is cut to what changed, with a few lines around", () => {
  const lines = (numbers: (number | string)[]) => numbers.map((n) => `${n}\n`).join("");
  const old = lines([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(diff(old, lines([1, 2, 3, 4, "five", 6, 7, 8, 9]))).toBe(
    "  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8",
  );
  expect(diff("", "a\n")).toBe("+ a");
  expect(diff("a\r\nb", "a\nb")).toBe("  a\n  b");
  expect(diff("a\na\n", "a\n")).toBe("  a\n- a");
});

test("the tool asks by the editor's confirmation, and its result is the word that approves", () => {
  const tool = new AgentAction();
  const prepared = tool.prepareInvocation({ input: { title: "Tidy up", kind: "delete" } });
  expect(prepared.invocationMessage).toBe("Tidy up");
  expect(prepared.confirmationMessages?.title).toBe("The agent asks: Delete");
  const message = prepared.confirmationMessages?.message as MarkdownString;
  expect([message.value, message.isTrusted, message.supportHtml]).toEqual([
    "**Tidy up**",
    undefined,
    undefined,
  ]);
  expect(tool.invoke()).toEqual({ content: [{ value: APPROVED }] });
  expect(APPROVED).toBe("Approved");
});

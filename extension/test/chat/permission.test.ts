import { expect, test } from "vitest";
import type { MarkdownString } from "vscode";
import { AgentAction, APPROVED } from "../../src/chat/agent_action.ts";
import { ALWAYS_ALLOW, AlwaysAllow } from "../../src/chat/always_allow.ts";
import { readPermissionInput, titleOf } from "../../src/chat/permission.ts";
import { Questions } from "../../src/chat/questions.ts";
import { Rules } from "../../src/chat/rules.ts";
import { Memory } from "../memory.ts";
import { asker, callOf } from "../questions.ts";
import { configure, openAnew } from "../vscode.ts";

function toolFor(questions: Questions) {
  return new AgentAction(questions, new AlwaysAllow(questions, new Rules(new Memory())));
}

test("the bridge's own message is shown as it is, and without icons", () => {
  const questions = new Questions();
  const message = "OpenCode asks:\n\n`ls $(check)`";
  questions.take(callOf("1", { title: "ls", kind: "switch_mode", message }), asker);
  const prepared = toolFor(questions).prepareInvocation({ input: {} });
  expect(prepared.invocationMessage).toBe("ls");
  expect(prepared.confirmationMessages?.title).toBe("Change the agent's mode?");
  const shown = prepared.confirmationMessages?.message as MarkdownString;
  expect([shown.value, shown.isTrusted, shown.supportHtml, shown.supportThemeIcons]).toEqual([
    message,
    undefined,
    undefined,
    false,
  ]);
});

test("a question is trusted with one command, and that is ours", () => {
  const questions = new Questions();
  questions.take(callOf("1", { kind: "execute", message: "OpenCode asks:" }), asker);
  const { confirmationMessages } = toolFor(questions).prepareInvocation({ input: {} });
  const shown = confirmationMessages?.message as MarkdownString;
  expect(shown.isTrusted).toEqual({ enabledCommands: [ALWAYS_ALLOW] });
  expect(shown.value).toBe(
    `OpenCode asks:\n\n[Always Allow...](command:${ALWAYS_ALLOW}?${encodeURIComponent("[]")})`,
  );
});

test("the link stays apart from a command where the question is shown as plain text", () => {
  const questions = new Questions();
  const message = "OpenCode asks:\n\n```sh\nls\n```\n";
  questions.take(callOf("1", { kind: "execute", message }), asker);
  const { confirmationMessages } = toolFor(questions).prepareInvocation({ input: {} });
  const shown = confirmationMessages?.message as MarkdownString;
  // An empty heading: nothing on the page, and a new line in plain text.
  expect(shown.value.slice(message.length)).toMatch(/^\s*\n\n#{1,6}\n\n\[Always Allow/);
});

test("long lines of a command are broken, by the editor or else by us", () => {
  openAnew();
  const shownAs = () => {
    const questions = new Questions();
    const message = `OpenCode asks:\n\n\`\`\`sh\n${"x".repeat(50)}\n\`\`\``;
    questions.take(callOf("1", { message }), asker);
    const { confirmationMessages } = toolFor(questions).prepareInvocation({ input: {} });
    const shown = confirmationMessages?.message as MarkdownString;
    return shown.value;
  };
  expect(shownAs()).toContain(`${"x".repeat(24)}\n↪ x`);
  configure("chat.editor.wordWrap", "on");
  expect(shownAs()).toContain("x".repeat(50));
});

test("that the tool is run is the yes, once for each question", async () => {
  const questions = new Questions();
  const tool = toolFor(questions);
  questions.take(callOf("1", { title: "Tidy up" }), asker);
  const options = { input: {}, toolInvocationToken: undefined };
  expect(await tool.invoke(options)).toEqual({ content: [{ value: APPROVED }] });
  expect(APPROVED).toBe("Approved");
  await expect(tool.invoke(options)).rejects.toThrow("isn't open any more");
  expect(() => tool.prepareInvocation({ input: {} })).toThrow("isn't open any more");
});

test("a call that no agent has made asks for nothing and approves nothing", async () => {
  for (const input of [{}, { question: "1" }, { title: "Safe", message: "Fine." }, null]) {
    const tool = toolFor(new Questions());
    const options = { input: input as object, toolInvocationToken: undefined };
    expect(() => tool.prepareInvocation(options)).toThrow("isn't open any more");
    await expect(tool.invoke(options)).rejects.toThrow("isn't open any more");
  }
});

test("a question of an unknown shape is still a question", () => {
  for (const odd of [
    undefined,
    null,
    3,
    "text",
    { title: 3, kind: 4, lasting: [null, { id: 1 }] },
  ]) {
    const asked = readPermissionInput(odd);
    expect([titleOf(asked), asked.kind, asked.lasting]).toEqual(["Allow this?", "other", []]);
    expect(asked.message).not.toBe("");
  }
});

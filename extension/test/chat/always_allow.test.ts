import { beforeEach, expect, test } from "vitest";
import { AgentAction } from "../../src/chat/agent_action.ts";
import { AlwaysAllow } from "../../src/chat/always_allow.ts";
import { type Asker, Questions } from "../../src/chat/questions.ts";
import { Rules } from "../../src/chat/rules.ts";
import { Memory } from "../memory.ts";
import { asker, callOf, resultOf } from "../questions.ts";
import { openAnew, person } from "../vscode.ts";

const COMMAND = { title: "bash", kind: "execute", action: "abc", command: "ls", message: "m" };
const OWN = { lasting: [{ id: "always", name: "Yes, always" }] };
let questions: Questions;
let rules: Rules;
let always: AlwaysAllow;
let tool: AgentAction;

beforeEach(() => {
  openAnew();
  questions = new Questions();
  rules = new Rules(new Memory());
  always = new AlwaysAllow(questions, rules);
  tool = new AgentAction(questions, always);
});

/** Ask; return the words of the result when the user allows it. */
function ask(parameters: object, who: Asker = asker): () => Promise<unknown> {
  questions.take(callOf("1", parameters), who);
  return async () => {
    const { content } = await tool.invoke({ input: {}, toolInvocationToken: undefined });
    questions.settle([resultOf("1")]);
    return (content[0] as { value: string }).value;
  };
}

test("a rule is chosen beside the question, and counts when the question is allowed", async () => {
  const allow = ask(COMMAND);
  person.picks = ["run any command"];
  await always.choose();
  expect(person.lists[0]).toEqual([
    "Only this once",
    "run only: ls",
    "run only: ls",
    "run any command",
    "run any command",
  ]);
  expect(person.asked[0]).toContain("run any command (until this window closes)");
  expect(rules.list()).toEqual([]); // skipping the question would leave it so
  expect(await allow()).toBe("Approved");
  expect(rules.allowed(asker)).toEqual([{ kind: "execute" }]);
});

test("a choice is taken back before the question is allowed", async () => {
  const allow = ask(COMMAND);
  person.picks = ["run only: ls", "Only this once"];
  await always.choose();
  await always.choose();
  expect(await allow()).toBe("Approved");
  expect(rules.list()).toEqual([]);
});

test("the list may be left, and that changes nothing", async () => {
  const allow = ask(COMMAND);
  await always.choose();
  expect(await allow()).toBe("Approved");
  expect([rules.list(), person.asked]).toEqual([[], []]);
});

test("an answer of the agent's own goes to the agent, and is no rule of ours", async () => {
  const allow = ask({ ...COMMAND, ...OWN });
  person.picks = ["Yes, always"];
  await always.choose();
  expect(await allow()).toBe("Approved with option: always");
  expect(rules.list()).toEqual([]);
});

test("nothing but the agent's own answers is there for what has no kind, or only for good", () => {
  for (const odd of [{ kind: "other" }, { kind: "switch_mode" }, { note: "For good: Always" }]) {
    ask({ ...COMMAND, action: undefined, ...odd });
    const question = questions.find({});
    expect(question && always.linkFor(question)).toBeUndefined();
    questions.settle([resultOf("1")]);
  }
});

test("an agent that isn't in the settings is allowed nothing for good", async () => {
  ask({ kind: "edit" }, { ...asker, definition: undefined });
  await always.choose();
  expect(person.lists[0]).toEqual(["Only this once", "change any file"]);
});

test("the link of a question that is over says so", async () => {
  await always.choose("7");
  expect(person.asked).toEqual(["This question isn't open any more."]);
});

test("the links of two questions lead to their own choices", async () => {
  ask(COMMAND);
  questions.take(callOf("2", { ...COMMAND, kind: "edit", action: undefined }), asker);
  const second = questions.find({ question: "1" });
  const args = encodeURIComponent('["1"]');
  expect(second && always.linkFor(second)?.markdown).toContain(`?${args})`);
  await always.choose("1");
  expect(person.lists[0]?.slice(1)).toEqual(["change any file", "change any file"]);
});

test("rules are shown with what they allow, and taken back", async () => {
  await always.manage();
  expect(person.asked[0]).toContain("You have no rules.");
  const rule = { ...asker, kind: "execute", isForGood: true };
  await rules.add({ ...rule, action: undefined, command: undefined });
  await rules.add({ ...rule, action: "abc", command: "ls", isForGood: false });
  person.picks = ["OpenCode: run any command"];
  await always.manage();
  expect(person.lists[0]).toEqual(["OpenCode: run any command", "OpenCode: run only: ls"]);
  expect(rules.allowed(asker)).toEqual([{ kind: "execute", action: "abc" }]);
  await always.manage();
  expect(rules.list()).toHaveLength(1); // the list was left
});

import { beforeEach, expect, test } from "vitest";
import { type ProblemSources, reportProblem } from "../../src/inspection/problem.ts";
import type { InspectedEvent, InspectedRequest } from "../../src/program/wire.ts";
import { reportOf } from "../../src/setup/report.ts";
import { openAnew, person } from "../vscode.ts";

const event: InspectedRequest & { asked: string; answer: string } = {
  ...{ event: "request", request: 3, conversation: 2, model: "claude", at: 1.26 },
  ...{
    requestClass: "main",
    ending: "failed",
    failure: "it fell over",
    asked: "PLAN",
    answer: "ANSWER",
  },
  facts: [
    { name: "why", text: "new: it matches no live conversation" },
    { name: "", text: "more of it" },
  ],
};
const findings = [{ step: "command", state: "ok", summary: "/bin/claude" }];
const report = reportOf("claude", JSON.stringify({ usable: true, findings }));

let sources: ProblemSources;

beforeEach(() => {
  openAnew();
  sources = {
    versions: async () => ({ vscodelm: "0.1.0", Fake: "1.120.0" }),
    inspect: async () => ({ events: [event] }),
    models: () => ["claude"],
    examine: async () => report,
    lines: () => ["10:00:00.000 info it begins"],
    secrets: async () => ["swordfish"],
  };
});

async function written(): Promise<string> {
  await reportProblem(sources);
  const [[address, text] = ["", ""]] = person.documents;
  expect(address).toMatch(/^untitled:/);
  return text;
}

test("the report is a document that nobody has sent", async () => {
  const text = await written();
  expect(text).toContain("Nothing was sent.");
  expect(text).toContain("- vscodelm: 0.1.0\n- Fake: 1.120.0");
  expect(text).toContain("claude can be used.");
  expect(text).toContain("### What was examined\n\n- command, ok: /bin/claude");
  expect(text).toContain(
    [
      "1.3 s: request 3, main, conversation 2, claude",
      "    why: new: it matches no live conversation",
      "    more of it",
      "    ended: failed (it fell over)",
    ].join("\n"),
  );
  expect(text).toContain("```text\n10:00:00.000 info it begins\n```");
  expect(person.pages).toEqual([]);
});

test("it has no word of a chat, and no secret", async () => {
  sources.lines = () => ["the key is swordfish"];
  const text = await written();
  expect(text).not.toMatch(/PLAN|ANSWER|swordfish/);
  expect(text).toContain("the key is [redacted]");
});

test("what can't be had is told in its place", async () => {
  sources.inspect = () => Promise.reject(new Error("the program is too old"));
  const text = await written();
  expect(text).toContain("They aren't available: the program is too old");
  expect(text).toContain("No chat of this window has asked an agent");
});

test.each<[string, Partial<ProblemSources>]>([
  ["The examination of claude was cancelled.", { examine: async () => undefined }],
  ["claude can't be examined: no disk", { examine: () => Promise.reject(new Error("no disk")) }],
  ["No chat of this window has asked an agent", { models: () => [] }],
  ["There are none since vscodelm started.", { inspect: async () => ({ events: [] }) }],
])("it says: %s", async (words, changed) => {
  Object.assign(sources, changed);
  expect(await written()).toContain(words);
});

test("refusals and ends are told, and only the newest decisions", async () => {
  const others: InspectedEvent[] = [
    { event: "refusal", request: 9, why: "one repeat too many" },
    { event: "end", conversation: 4, why: "it was idle for too long", at: 3 },
  ];
  const many = Array.from({ length: 40 }, (_, number) => ({ ...event, request: number }));
  sources.inspect = async () => ({ events: [...many, ...others] });
  const text = await written();
  expect(text).toContain("request 9 is refused: one repeat too many");
  expect(text).toContain("3.0 s: conversation 4 ends: it was idle for too long");
  expect(text).not.toContain("request 11,");
  expect(text).toContain("request 12,");
});

test("nothing in the log ends its block", async () => {
  sources.lines = () => ["```", "# no heading", "`````"];
  expect(await written()).toContain("``````text\n```\n# no heading\n`````\n``````");
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as vscode from "vscode";
import { AgentChanges, BEFORE, CHANGES_MIME_TYPE } from "../../src/edits/agent_changes.ts";
import { git, openAnew, person } from "../vscode.ts";

let folder: string;
let changes: AgentChanges;

beforeEach(async () => {
  openAnew();
  folder = await mkdtemp(join(tmpdir(), "changes-"));
  changes = new AgentChanges(
    vscode.window.createStatusBarItem("vscodelm.changes", vscode.StatusBarAlignment.Right),
  );
});

afterEach(() => rm(folder, { recursive: true }));

function part(record: unknown, mimeType = CHANGES_MIME_TYPE) {
  const data = Buffer.from(JSON.stringify(record)).toString("base64");
  return { type: "data", mimeType, data };
}

/** What the editor was given to compare, as texts. */
function compared(): (string | undefined)[][] {
  const [, , resources] = person.ran.find(([name]) => name === "vscode.changes") ?? [];
  return (resources as (vscode.Uri | undefined)[][]).map((one) =>
    one.map((uri) =>
      uri?.scheme === BEFORE ? changes.provideTextDocumentContent(uri) : uri?.path,
    ),
  );
}

test("the files of the newest answer are compared: changed, new and deleted ones", async () => {
  const [changed, made, gone] = ["a", "b", "c"].map((name) => join(folder, name));
  await writeFile(`${changed}`, "after");
  await writeFile(`${made}`, "made");
  changes.take(part({ files: [{ path: "/older", before: "x" }] }));
  const files = [
    { path: changed, before: "before" },
    { path: made, before: null },
    { path: gone, before: "gone" },
  ];
  expect(changes.take(part({ files }))).toBe(true);
  expect(person.status.at(-1)).toBe("$(diff-multiple) 3 files changed");
  await changes.show();
  expect(compared()).toEqual([
    [changed, "before", changed],
    [made, undefined, made],
    [gone, "gone", undefined],
  ]);
  expect(person.status.at(-1)).toBe("");
  expect(person.asked).toEqual([]);
});

test("a file whose earlier text isn't known is opened and named, and compared with nothing", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  await writeFile(join(folder, "a"), "x");
  await writeFile(join(folder, "f"), "x");
  changes.take(part({ files: names.map((name) => ({ path: join(folder, name) })) }));
  await changes.show();
  expect(person.ran).toMatchObject([["vscode.open", { fsPath: join(folder, "a") }, {}]]);
  expect(person.asked).toEqual(["The earlier text isn't known: a, b, c, d, e and 1 more."]);
});

test("a file whose earlier text only git has is compared with the last commit", async () => {
  const [known, old, gone, made] = ["known", "old", "gone", "made"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [known, old, made]) {
    await writeFile(path, "after");
  }
  git.isThere = true;
  git.committed.add(known).add(old).add(gone);
  const files = [{ path: known, before: "x" }, { path: old }, { path: gone }, { path: made }];
  changes.take(part({ files }));
  await changes.show();
  const [, , resources] = person.ran[0] ?? [];
  expect(resources).toMatchObject([
    [{ path: known }, { scheme: BEFORE }, { path: known }],
    [{ path: old }, { scheme: "git", path: old, query: "HEAD" }, { path: old }],
    [{ path: gone }, { scheme: "git", path: gone }, undefined],
  ]);
  expect(person.ran.slice(1)).toMatchObject([["vscode.open", { fsPath: made }, {}]]);
  expect(person.asked).toEqual([
    "Compared with the last commit: old, gone. The earlier text isn't known: made.",
  ]);
});

test("without changes the command says so", async () => {
  await changes.show();
  expect(person.asked).toEqual(["No agent has changed a file by itself yet."]);
});

test("other parts are left alone, and what can't be read changes nothing", async () => {
  expect(changes.take(part({ files: [] }, "usage"))).toBe(false);
  expect(changes.take({ type: "text", value: "x" })).toBe(false);
  for (const odd of [{}, { files: [{ path: "relative", before: "x" }] }, { files: [1] }]) {
    expect(changes.take(part(odd))).toBe(true);
  }
  expect(changes.take({ type: "data", mimeType: CHANGES_MIME_TYPE, data: "?" })).toBe(true);
  expect(person.status).toEqual([]);
});

test("a text of an older answer is gone", () => {
  const path = join(folder, "a");
  changes.take(part({ files: [{ path, before: "x" }] }));
  const old = vscode.Uri.file(path).with({ scheme: BEFORE, query: "1" });
  expect(changes.provideTextDocumentContent(old)).toBe("x");
  changes.take(part({ files: [{ path, before: "y" }] }));
  expect(changes.provideTextDocumentContent(old)).toBe("");
});

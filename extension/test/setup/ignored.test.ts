import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MAX_SETTINGS_BYTES } from "../../src/limits.ts";
import { IgnoredSettings, ownSettingsIn } from "../../src/setup/ignored.ts";
import { openAnew, openFolder, workspace } from "../vscode.ts";

let folder: string;
let file: string;
let log: string[];
let ignored: IgnoredSettings;

beforeEach(async () => {
  openAnew();
  folder = await mkdtemp(join(tmpdir(), "vscodelm-folder-"));
  file = join(folder, ".vscode/settings.json");
  await mkdir(join(folder, ".vscode"));
  log = [];
  ignored = new IgnoredSettings({ warn: (line) => log.push(line) });
});

afterEach(() => rm(folder, { recursive: true }));

const line = (name: string, place = file) =>
  `\`vscodelm.${name}\` in ${place} is ignored: only the user's own settings may have it.`;

test("settings are found in a file as editors read it: with comments, escapes and loose ends", () => {
  const text = `{
    // "vscodelm.path": "in a comment",
    /* "vscodelm.arguments": [] */
    "vscodelm.agents" : { "vscodelm.traceDirectory": "" },
    "vscodelm.p\\u0061th": "x",
    "other": "vscodelm.tools.include", "a \\" \\\\": "vscodelm.environment",
    "vscodelm.thinking": "hide", "vscodelm.agents": {},
  `;
  expect(ownSettingsIn(text)).toEqual([
    "vscodelm.agents",
    "vscodelm.traceDirectory",
    "vscodelm.path",
  ]);
});

test.each([
  ['"\\"', "strings that don't end"],
  ["/*", "comments that don't end"],
  ['"\n', "quotes at ends of lines"],
  ['"" ', "strings"],
])("a megabyte of %j is looked through once: %s", (piece) => {
  const count = MAX_SETTINGS_BYTES / piece.length;
  expect(ownSettingsIn(`"${piece.repeat(count)}`)).toEqual([]);
});

test("each setting is told once, in each folder and in the file of the workspace", async () => {
  await writeFile(file, '{ "vscodelm.agents": {}, "vscodelm.path": "x" }');
  workspace.workspaceFile = { scheme: "file", fsPath: join(folder, "a.code-workspace") };
  await writeFile(join(folder, "a.code-workspace"), '{ "settings": { "vscodelm.path": "y" } }');
  openFolder(folder);
  await ignored.look();
  await ignored.look();
  expect(log).toEqual([
    line("agents"),
    line("path"),
    line("path", join(folder, "a.code-workspace")),
  ]);
  await writeFile(file, '{ "vscodelm.tools.include": {}, "vscodelm.path": "z" }');
  await ignored.look();
  expect(log.slice(3)).toEqual([line("tools.include")]);
});

test("nothing is told of a window without folders, of a folder without settings, of a new workspace", async () => {
  await ignored.look();
  await rm(join(folder, ".vscode"), { recursive: true });
  openFolder(folder);
  workspace.workspaceFile = { scheme: "untitled", fsPath: "1234" };
  await ignored.look();
  expect(log).toEqual([]);
});

test("a file of the largest size is looked through, and one that is larger is said to be so", async () => {
  openFolder(folder);
  const setting = '{ "vscodelm.path": "x" }';
  await writeFile(file, setting.padEnd(MAX_SETTINGS_BYTES));
  await ignored.look();
  expect(log).toEqual([line("path")]);
  await writeFile(file, setting.padEnd(MAX_SETTINGS_BYTES + 1));
  await ignored.look();
  await ignored.look();
  expect(log.slice(1)).toEqual([expect.stringContaining("is too large to be searched")]);
});

test("what can't be read is told, and the next folder is looked through", async () => {
  const other = join(folder, "other");
  await mkdir(file);
  await mkdir(join(other, ".vscode"), { recursive: true });
  await writeFile(join(other, ".vscode/settings.json"), '{"vscodelm.path":1}');
  openFolder(folder);
  openFolder(other);
  await ignored.look();
  expect(log).toEqual([
    expect.stringContaining("can't be searched for ignored settings: EISDIR"),
    line("path", join(other, ".vscode/settings.json")),
  ]);
});

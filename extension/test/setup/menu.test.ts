import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import * as vscode from "vscode";
import { GROUPS, MENU, showMenu } from "../../src/setup/menu.ts";
import { openAnew, person } from "../vscode.ts";

const LISTED = [
  { command: "vscodelm.showLog", title: "Show Log" },
  { command: "vscodelm.addAgent", title: "Add Agent..." },
  { command: "vscodelm.brandNew", title: "Brand New" },
  { command: "vscodelm.manage", title: "Manage vscodelm..." },
];

beforeEach(() => openAnew());

test("all commands are listed under headings, also one that no heading knows", async () => {
  await showMenu(LISTED);
  expect(person.lists).toEqual([
    ["Agents", "Add Agent...", "Help", "Show Log", "More", "Brand New"],
  ]);
});

test("the chosen command runs, and none without a choice", async () => {
  let runs = 0;
  vscode.commands.registerCommand("vscodelm.addAgent", () => {
    runs++;
  });
  await showMenu(LISTED);
  expect(runs).toBe(0);
  person.picks = ["Add Agent..."];
  await showMenu(LISTED);
  expect(runs).toBe(1);
});

test("each command of the package stands under a heading", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const names = GROUPS.flatMap(([, group]) => group);
  expect(new Set(names).size).toBe(names.length);
  const listed = manifest.contributes.commands.map(({ command }: { command: string }) => command);
  expect([...names, MENU].map((name) => `vscodelm.${name}`).sort()).toEqual(listed.sort());
});

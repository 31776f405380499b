import { beforeEach, expect, test } from "vitest";
import { welcome } from "../../src/setup/welcome.ts";
import { Memory } from "../memory.ts";
import { chat, openAnew, person } from "../vscode.ts";

const WALKTHROUGH = ["workbench.action.openWalkthrough", "vscodelm.vscodelm#start"];
const yes = async () => true;
const no = async () => false;

beforeEach(() => openAnew());

test("a new editor shows the walkthrough once", async () => {
  chat.isOn = false;
  const memory = new Memory();
  await welcome(memory, no);
  await welcome(memory, no);
  expect(person.ran).toEqual([WALKTHROUGH]);
});

test("the walkthrough is shown where only the program is missing, or only the chat", async () => {
  await welcome(new Memory(), no);
  chat.isOn = false;
  await welcome(new Memory(), yes);
  expect(person.ran).toEqual([WALKTHROUGH, WALKTHROUGH]);
});

test("a person whose chat and program are there is left alone", async () => {
  await welcome(new Memory(), yes);
  expect(person.ran).toEqual([]);
});

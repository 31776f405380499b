import { beforeEach, expect, test } from "vitest";
import { useWithoutAccount } from "../src/account.ts";
import { openAnew, person } from "./vscode.ts";

const ADD = "lm.addLanguageModelsProviderGroup";

beforeEach(openAnew);

test("the editor is told that there are models of the user's own", async () => {
  await useWithoutAccount();
  expect(person.ran).toEqual([[ADD, { vendor: "vscodelm", name: "vscodelm" }]]);
  expect(person.asked).toEqual([expect.stringContaining("without an account now")]);
});

test("an editor that can't be told so is shown the way by hand", async () => {
  person.lacks = ADD;
  await useWithoutAccount();
  expect(person.asked).toEqual([
    expect.stringMatching(/not found.*Open "Chat: Manage Language Models"/),
  ]);
});

import { beforeEach, expect, test } from "vitest";
import { deleteSecret, setSecret } from "../../src/setup/secret_commands.ts";
import { Secrets } from "../../src/setup/secrets.ts";
import { Memory, Vault } from "../memory.ts";
import { openAnew, person } from "../vscode.ts";

let secrets: Secrets;

beforeEach(() => {
  openAnew();
  secrets = new Secrets(new Vault(), new Memory());
});

test("a secret is typed unseen, and kept under the name of its variable", async () => {
  person.types = ["MY_KEY", "s3cret"];
  await setSecret(secrets);
  expect(person.boxes.map(({ password }) => password)).toEqual([undefined, true]);
  expect(await secrets.environment()).toEqual({ MY_KEY: "s3cret" });
});

test.each([[[]], [["MY_KEY"]], [["MY_KEY", ""]]])(
  "who leaves after %j keeps nothing",
  async (types) => {
    person.types = types;
    await setSecret(secrets);
    expect(await secrets.names()).toEqual([]);
  },
);

test.each([
  ["MY_KEY2", true],
  ["_x", true],
  ["2X", false],
  ["MY KEY", false],
  ["A=B", false],
  ["", false],
])("%j can name a variable: %s", async (name, isName) => {
  await setSecret(secrets);
  const complaint = await person.boxes[0]?.validateInput?.(name);
  expect(complaint === undefined).toBe(isName);
});

test("a secret is deleted by its name, and no other", async () => {
  await secrets.set("A", "1");
  await secrets.set("B", "2");
  person.picks = ["A"];
  await deleteSecret(secrets);
  expect(person.lists).toEqual([["A", "B"]]);
  expect(await secrets.environment()).toEqual({ B: "2" });
  await deleteSecret(secrets); // the list was left
  expect(await secrets.names()).toEqual(["B"]);
});

test("where there is no secret, that is said", async () => {
  await deleteSecret(secrets);
  expect(person.asked).toEqual(["No secrets are stored."]);
});

test("a variable that is known is not asked for, and it is told whether its key was set", async () => {
  person.types = ["s3cret"];
  expect(await setSecret(secrets, "MY_KEY")).toBe(true);
  expect(await secrets.environment()).toEqual({ MY_KEY: "s3cret" });
  expect(await setSecret(secrets, "OTHER_KEY")).toBe(false);
  expect(person.boxes.map(({ title }) => title)).toEqual(["MY_KEY", "OTHER_KEY"]);
});

import { expect, test } from "vitest";
import { plainWords, wordsWithoutIcons } from "../../src/elicitation/words.ts";
import { MAX_SHOWN_CHARACTERS } from "../../src/limits.ts";

/** What VS Code makes a link of in the texts of its boxes. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** What it makes an icon of in the texts of its lists. */
const ICON = /(?<!\\)\$\([A-Za-z0-9-]+(~[A-Za-z]+)?\)/;

test.each([
  "[Log in](command:workbench.action.terminal.sendSequence?%7B%7D)",
  '[a](https://example.org "b")',
  "[[a](file:///etc/passwd)](command:x)",
  "[a]\n(command:x)",
])("%j becomes no link", (text) => {
  expect(plainWords(text)).not.toMatch(LINK);
  expect(text).toMatch(/\]\s?\(/);
  expect(wordsWithoutIcons(text)).not.toMatch(LINK);
});

test("an icon in a list stays the text that it was", () => {
  expect(wordsWithoutIcons("echo $(pwd) $(sync~spin)")).not.toMatch(ICON);
  expect(wordsWithoutIcons("echo $(pwd)").replaceAll("\\", "")).toBe("echo $(pwd)");
});

test("lines become one, and nothing hides or turns the text around", () => {
  expect(plainWords(" a\r\n\tb\u202e c\u2066d\u0000 ")).toBe("a b c d");
  expect(plainWords("ünïcödé 日本 👍🏽")).toBe("ünïcödé 日本 👍🏽");
});

test("a long text is cut", () => {
  const whole = "x".repeat(MAX_SHOWN_CHARACTERS);
  expect(plainWords(whole)).toBe(whole);
  expect(plainWords(`${whole}x`)).toHaveLength(MAX_SHOWN_CHARACTERS);
  expect(plainWords(`${whole}x`).endsWith("x…")).toBe(true);
});

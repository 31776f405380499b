import { expect, test } from "vitest";
import { withoutTurning, withoutUnseen } from "../src/unseen.ts";

const mark = () => "!";
const SEEN = "Grüße, 你好 👩‍👩‍👧 — $1 [x](y)";

test("a text that is seen stays as it is", () => {
  expect(withoutTurning(SEEN, mark)).toBe(SEEN);
  expect(withoutUnseen("Grüße, 你好 👧", mark)).toBe("Grüße, 你好 👧");
});

test("control characters and turns of direction are shown", () => {
  expect(withoutTurning("a\u0000b\u001bc\u0085d\u202ee\u2066f\ng", mark)).toBe("a!b!c!d!e!f!g");
});

test("what isn't seen is shown as Unicode's own table says", () => {
  const missed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const isUnseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[^\S ]/u.test(character);
    if ((withoutUnseen(character, mark) !== character) !== isUnseen) {
      missed.push(code.toString(16));
    }
  }
  expect(missed).toEqual([]);
});

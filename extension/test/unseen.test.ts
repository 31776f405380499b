import { expect, test } from "vitest";
import { withoutTurning } from "../src/unseen.ts";

const mark = () => "!";
const SEEN = "Grüße, 你好 👩‍👩‍👧 — $1 [x](y)";

test("a text that is seen stays as it is", () => {
  expect(withoutTurning(SEEN, mark)).toBe(SEEN);
});

test("control characters and turns of direction are shown", () => {
  expect(withoutTurning("a\u0000b\u001bc\u0085d\u202ee\u2066f\ng", mark)).toBe("a!b!c!d!e!f!g");
});

import { expect, test } from "vitest";
import { RememberedEstimates } from "../src/tokens/remembered.ts";

function watched() {
  const estimated: string[] = [];
  const estimates = new RememberedEstimates((text) => {
    estimated.push(text);
    return text.length;
  });
  return { estimated, estimates };
}

test("a text is estimated once, also an empty one", () => {
  const { estimated, estimates } = watched();
  expect(["a", "", "bc", "a", ""].map((text) => estimates.of(text))).toEqual([1, 0, 2, 1, 0]);
  expect(estimated).toEqual(["a", "", "bc"]);
});

test("a long text is estimated each time, and not kept", () => {
  const { estimated, estimates } = watched();
  const long = "x".repeat(1_001);
  expect([estimates.of(long), estimates.of(long)]).toEqual([1_001, 1_001]);
  expect(estimated).toHaveLength(2);
});

test("no more than a million characters are kept", () => {
  const { estimated, estimates } = watched();
  const texts = Array.from({ length: 1_000 }, (_, at) => String(at).padStart(1_000, "-"));
  for (const text of [...texts, ...texts]) {
    estimates.of(text);
  }
  expect(estimated).toHaveLength(1_000);
  estimates.of("one more");
  estimates.of(texts[0] as string);
  estimates.of("one more");
  expect(estimated.slice(1_000)).toEqual(["one more", texts[0]]);
});

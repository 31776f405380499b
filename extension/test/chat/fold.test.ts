import { expect, test } from "vitest";
import { foldCode, GOES_ON, NARROW } from "../../src/chat/fold.ts";

test("a long line of code is broken, and nothing else changes", () => {
  const line = `echo ${"a".repeat(50)} "漢字"\t# ${"漢".repeat(30)}`;
  const folded = foldCode(
    `${"x".repeat(50)}\n\n\`\`\`sh\n${line}\nls\n\`\`\`\n\n- ${"y".repeat(50)}`,
  );
  expect(folded.replaceAll(`\n${GOES_ON}`, "")).toBe(
    `${"x".repeat(50)}\n\n\`\`\`sh\n${line}\nls\n\`\`\`\n\n- ${"y".repeat(50)}`,
  );
  const code = folded.split("```")[1]?.split("\n") ?? [];
  expect(Math.max(...code.map((one) => one.length))).toBe(NARROW);
  expect(code.length).toBeGreaterThan(6);
});

test("a line of code that looks like the end of the block is none", () => {
  const long = "`".repeat(30);
  const text = `\`\`\`\`\n\`\`\`\n${long}\n\`\`\`\`\n${"z".repeat(40)}`;
  const folded = foldCode(text).split("\n");
  expect(folded.slice(0, 3)).toEqual(["````", "```", "`".repeat(NARROW)]);
  expect(folded.at(-1)).toBe("z".repeat(40));
});

test("code within a line begins no block", () => {
  const text = `\`\`\` a \`\`\`\n${"z".repeat(40)}`;
  expect(foldCode(text)).toBe(text);
});

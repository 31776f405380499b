import { expect, test } from "vitest";
import type * as vscode from "vscode";
import { KeptLines } from "../../src/inspection/kept_lines.ts";
import { MAX_KEPT_LINE, MAX_KEPT_LINES } from "../../src/limits.ts";

const now = () => new Date("2026-11-26T10:11:12.345Z");

function channel() {
  const written: unknown[][] = [];
  const real = {
    logLevel: 3,
    shown: 0,
    info: (...line: unknown[]) => written.push(line),
    error: (...line: unknown[]) => written.push(line),
    show() {
      this.shown++;
    },
  };
  const kept = new KeptLines(now);
  return { written, real, kept, log: kept.of(real as unknown as vscode.LogOutputChannel) };
}

test("a line is written and kept", () => {
  const { written, kept, log } = channel();
  log.info("hello", 1);
  log.error(new Error("it broke"));
  expect(written).toEqual([["hello", 1], [new Error("it broke")]]);
  expect(kept.lines).toEqual(["10:11:12.345 info hello", "10:11:12.345 error Error: it broke"]);
});

test("everything else is the channel's own", () => {
  const { real, kept, log } = channel();
  log.show();
  expect([real.shown, log.logLevel, kept.lines]).toEqual([1, 3, []]);
});

test("only the newest lines are kept, and their beginnings", () => {
  const { kept, log } = channel();
  for (let line = 0; line <= MAX_KEPT_LINES; line++) {
    log.info(`${line} ${"x".repeat(MAX_KEPT_LINE)}`);
  }
  expect(kept.lines).toHaveLength(MAX_KEPT_LINES);
  expect(kept.lines[0]).toMatch(/ info 1 x+$/);
  expect(Math.max(...kept.lines.map((line) => line.length))).toBeLessThan(MAX_KEPT_LINE + 30);
});

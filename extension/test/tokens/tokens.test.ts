// That the counts are those of Python, to the token: both suites read the same vectors.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Message, Tool } from "../../src/program/wire.ts";
import { Cutter } from "../../src/tokens/pieces.ts";
import {
  type Estimate,
  estimateImage,
  estimateMessage,
  estimateText,
  estimateTools,
  HybridEstimator,
} from "../../src/tokens/tokens.ts";

interface Vectors {
  texts: { text: string; tokens: number; pieces: string }[];
  images: { data: string; family: string; tokens: number }[];
  messages: { message: Message; family: string; tokens: number }[];
  tools: { tools: Tool[]; tokens: number }[];
  conversation: (Step & { ratio: number; hello: number })[];
}

interface Step {
  estimate?: Message[];
  calibrate?: Message[];
  tokens?: number;
  tools?: Tool[];
  expected?: Estimate;
}

const file = new URL("../../../tests/tokens/vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;

test("there are vectors of each sort", () => {
  expect(vectors.texts.length).toBeGreaterThan(200);
  expect(Object.values(vectors).every((some) => some.length > 2)).toBe(true);
});

test("a text has as many tokens as Python says", () => {
  const counted = vectors.texts.map(({ text }) => ({ text, tokens: estimateText(text) }));
  expect(counted).toEqual(vectors.texts.map(({ text, tokens }) => ({ text, tokens })));
});

/** Return the lengths of a text's pieces. */
function lengths(text: string): number[] {
  const cutter = new Cutter();
  const found: number[] = [];
  for (let at = 0; at < text.length; at += found.at(-1) as number) {
    found.push(cutter.end(text, at) - at);
  }
  return found;
}

test("a text is cut into pieces where Python cuts it", () => {
  for (const { text, pieces } of vectors.texts) {
    expect(lengths(text).join(" "), JSON.stringify(text)).toEqual(pieces);
  }
});

test("a piece is cut after half a million characters, as if the text ended there", () => {
  const most = 512_000;
  expect(lengths("x".repeat(2 * most + 1))).toEqual([most, most, 1]);
  expect(lengths("x".repeat(most - 1))).toEqual([most - 1]);
  expect(lengths(`${"x".repeat(most - 2)}'s`)).toEqual([most]);
  expect(lengths(`${"x".repeat(most - 1)}'s`)).toEqual([most - 1, 2]);
  expect(lengths(`${"=".repeat(most - 1)}\n\n`)).toEqual([most, 1]);
  expect(lengths(`${" ".repeat(most)} x`)).toEqual([most, 2]);
  expect(lengths(`${" ".repeat(most)}x`)).toEqual([most, 1]);
  expect(lengths(`${"1".repeat(4)}${"😀".repeat(most + 1)}`)).toEqual([3, 1, 2 * most, 2]);
  expect(lengths(`${"\u{20000}".repeat(most)}a`)).toEqual([2 * most, 1]);
});

test("an image has as many tokens as Python says", () => {
  for (const { data, family, tokens } of vectors.images) {
    expect(estimateImage(data, family), `${data.slice(0, 80)}, ${family}`).toBe(tokens);
  }
});

test("a message has as many tokens as Python says", () => {
  for (const { message, family, tokens } of vectors.messages) {
    expect(estimateMessage(message, family), JSON.stringify(message)).toBe(tokens);
  }
});

test("tools have as many tokens as Python says", () => {
  for (const { tools, tokens } of vectors.tools) {
    expect(estimateTools(tools), JSON.stringify(tools)).toBe(tokens);
  }
});

test("a conversation that is counted now and then has as many tokens as Python says", () => {
  const hybrid = new HybridEstimator("gpt-5");
  const question = vectors.conversation[1]?.estimate?.[0]?.content[0];
  const long = String((question as { value?: unknown }).value);
  for (const step of vectors.conversation) {
    if (step.estimate) {
      expect(hybrid.estimateConversation(step.estimate, step.tools)).toEqual(step.expected);
    } else if (step.calibrate) {
      hybrid.calibrate(step.calibrate, step.tokens ?? 0, step.tools);
    } else {
      hybrid.reset();
    }
    expect(hybrid.ratio).toBe(step.ratio);
    expect(hybrid.estimateText(long)).toBe(step.hello);
  }
});

test("a message is corrected by the ratio, and only so many counts are remembered", () => {
  const hybrid = new HybridEstimator();
  const say = (value: string): Message => ({ role: "user", content: [{ type: "text", value }] });
  const long = say("word ".repeat(300));
  const before = hybrid.estimateMessage(long);
  hybrid.calibrate([long], 2 * before);
  expect(hybrid.estimateMessage(long)).toBeGreaterThan(before);
  for (let number = 0; number < 1000; number++) {
    hybrid.calibrate([say(`${number}`)], 9);
  }
  expect(hybrid.estimateConversation([long]).method).toBe("estimated");
  expect(hybrid.estimateConversation([say("0")]).method).toBe("actual");
});

/** Cut a text into words and look at each character once: what any estimate of this sort does at least. */
function walk(text: string): number {
  const word = /\w+|[^\w\s]+|\s+/gu;
  let start = 0;
  let sum = 0;
  while (word.test(text)) {
    for (let at = start; at < word.lastIndex; at++) {
      sum = (sum * 31 + text.charCodeAt(at)) | 0;
    }
    start = word.lastIndex;
  }
  return sum;
}

function cpuOf(work: (text: string) => number, text: string): number {
  const began = process.cpuUsage();
  for (let time = 0; time < 4; time++) {
    work(text);
  }
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

function median(numbers: number[]): number {
  return numbers.sort((one, other) => one - other)[numbers.length >> 1] as number;
}

// How many megabytes a second that is, `make bench ARGS=tokens` says; it depends on the machine and on
// what else runs there. Both works here slow down alike: the ratio was 2.4 to 3.0, on an idle machine as on
// a crowded one. The limit leaves room for half as much again, and for no second pass of that sort.
test("a text costs little more than to cut it into words and to look at its characters", () => {
  const text = vectors.texts.map((one) => one.text).join("\n") + readFileSync(file, "utf8");
  cpuOf(walk, text); // compiled, before it is measured
  cpuOf(estimateText, text);
  const rounds = Array.from({ length: 15 }, () => [cpuOf(walk, text), cpuOf(estimateText, text)]);
  const [walked, estimated] = [0, 1].map((which) =>
    median(rounds.map((round) => round[which] as number)),
  ) as [number, number];
  expect(estimated / walked).toBeLessThan(4.2);
});

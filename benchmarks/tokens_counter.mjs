// Counts texts, a JSON array on stdin, once and then so many times more. Prints the CPU seconds of the
// fastest time and of the first one.

import { readFileSync } from "node:fs";

function secondsOf(work) {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}

const { estimateText } = await import(process.argv[2]);
const texts = JSON.parse(readFileSync(0, "utf8"));
const times = Array.from({ length: Number(process.argv[3]) + 1 }, () =>
  secondsOf(() => texts.forEach((text) => estimateText(text))),
);
console.log(Math.min(...times), times[0]);

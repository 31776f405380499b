// Counts texts, a JSON array on stdin, several times, and then a piece of a million letters. Prints the
// CPU seconds: of the fastest time, of the first one, and of the piece.

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
const letters = Array.from({ length: 1_000_000 }, (_, at) => String.fromCharCode(97 + ((at * at) % 26)));
const piece = letters.join("");
console.log(Math.min(...times), times[0], secondsOf(() => estimateText(piece)));

// Counts texts, a JSON array on stdin, several times; prints the least CPU seconds of one time.

import { readFileSync } from "node:fs";

const { estimateText } = await import(process.argv[2]);
const texts = JSON.parse(readFileSync(0, "utf8"));
let least = Number.POSITIVE_INFINITY;
for (let time = 0; time < Number(process.argv[3]); time++) {
  const began = process.cpuUsage();
  for (const text of texts) {
    estimateText(text);
  }
  const { user, system } = process.cpuUsage(began);
  least = Math.min(least, (user + system) / 1e6);
}
console.log(least);

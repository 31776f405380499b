// Counts the tokens of each line, a JSON string, with the extension's estimator.

import { createInterface } from "node:readline";

const { estimateText } = await import(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${estimateText(JSON.parse(line))}\n`);
}

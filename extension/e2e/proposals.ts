// What an editor grants to an extension that declares proposed APIs: the tests' `proposer` tries some.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";

const refusal = (proposal: string) =>
  expect.stringContaining(`'test.proposer' CANNOT use API proposal: ${proposal}`);

/** In a desktop VS Code the extension gets none of them, and Eliza is there for it all the same. */
export const NOTHING_GRANTED = {
  model: "eliza",
  chatParticipantPrivate: refusal("chatParticipantPrivate"),
  embeddings: refusal("embeddings"),
  languageModelSystem: refusal("languageModelSystem"),
  tools: ["proposer_tool"],
};

/** Wait for what the extension has written. */
export async function proposals(file: string): Promise<unknown> {
  for (let tries = 0; tries < 600; tries++) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") {
      return JSON.parse(text);
    }
    await sleep(100);
  }
  throw new Error("the extension with proposals didn't finish");
}

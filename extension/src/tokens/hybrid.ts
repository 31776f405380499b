// Tokens of a conversation: exact for the part that a server counted, estimated for the rest. This is
// `bridge/tokens/hybrid.py` once more; shared vectors hold the two together.

import { createHash } from "node:crypto";
import type { Message, Tool } from "../program/wire.ts";
import { canonicalJson } from "./json.ts";
import { estimateMessage, estimateTools, MESSAGE_OVERHEAD, REPLY_OVERHEAD } from "./message.ts";
import { RememberedEstimates } from "./remembered.ts";

export type EstimateMethod = "actual" | "hybrid" | "estimated";

export interface Estimate {
  tokens: number;
  method: EstimateMethod;
  /** The certainty of the number, from 0 to 1. */
  confidence: number;
}

const CONFIDENCE: Record<EstimateMethod, number> = { actual: 1.0, hybrid: 0.85, estimated: 0.7 };
const KNOWN_CONVERSATIONS = 1000;
/** Fewer tokens than this say little of a ratio. */
const LEAST_SAMPLE = 100;
/** No two tokenizers differ more: the older cl100k_base has 2.7 times as many for Hindi and Thai. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 4.0;
const WEIGHT = 0.3;

/** The tokens of one model's conversations; `family` is the model's, for images. */
export class HybridEstimator {
  private measured = 1.0;
  private readonly counted = new Map<string, number>();
  private readonly texts = new RememberedEstimates();

  constructor(private readonly family = "") {}

  /** The model's tokens per estimated token, as measured. */
  get ratio(): number {
    return this.measured;
  }

  /** Estimate the tokens of a text. */
  estimateText(text: string): number {
    return this.corrected(this.texts.of(text));
  }

  /** Estimate the tokens of a message. */
  estimateMessage(message: Message): number {
    return this.corrected(estimateMessage(message, this.family));
  }

  /** Tell the tokens of a request: exact as far as its beginning was counted, tools included. */
  estimateConversation(messages: readonly Message[], tools: readonly Tool[] = []): Estimate {
    const [known, count] = this.longestCounted(beginnings(messages));
    if (known === messages.length && count > 0) {
      return estimate(count, "actual");
    }
    const rest = this.corrected(this.price(messages, known, tools));
    return estimate(count + rest, known > 0 ? "hybrid" : "estimated");
  }

  /** Learn that a server counted so many input tokens for these messages (and tools). */
  calibrate(messages: readonly Message[], tokens: number, tools: readonly Tool[] = []): void {
    const keys = beginnings(messages);
    const key = keys.at(-1);
    if (tokens <= 0 || key === undefined) {
      return; // some servers say 0 when they don't know
    }
    const [known, count] = this.longestCounted(keys.slice(0, -1));
    const estimated = this.price(messages, known, tools);
    const ratio = (tokens - count) / estimated;
    if (estimated >= LEAST_SAMPLE && ratio >= LEAST_RATIO && ratio <= MOST_RATIO) {
      this.measured = (1 - WEIGHT) * this.measured + WEIGHT * ratio;
    }
    this.counted.delete(key); // the latest one goes to the end
    this.counted.set(key, tokens);
    const oldest = this.counted.keys().next();
    if (this.counted.size > KNOWN_CONVERSATIONS && !oldest.done) {
      this.counted.delete(oldest.value);
    }
  }

  /** Forget the counts; the ratio is the model's, and stays. */
  reset(): void {
    this.counted.clear();
  }

  private longestCounted(keys: readonly string[]): [known: number, count: number] {
    for (let size = keys.length; size > 0; size--) {
      const count = this.counted.get(keys[size - 1] as string);
      if (count !== undefined) {
        return [size, count];
      }
    }
    return [0, 0];
  }

  private price(messages: readonly Message[], known: number, tools: readonly Tool[]): number {
    const begin = known > 0 ? 0 : REPLY_OVERHEAD + estimateTools(tools);
    return messages
      .slice(known)
      .reduce((sum, one) => sum + MESSAGE_OVERHEAD + estimateMessage(one, this.family), begin);
  }

  private corrected(tokens: number): number {
    return Math.floor(tokens * this.measured + 0.5);
  }
}

function estimate(tokens: number, method: EstimateMethod): Estimate {
  return { tokens, method, confidence: CONFIDENCE[method] };
}

/** Return a digest of the first message, of the first two, and so on. */
function beginnings(messages: readonly Message[]): string[] {
  let digest = "";
  return messages.map((message) => {
    digest = createHash("sha1").update(digest).update(said(message)).digest("base64");
    return digest;
  });
}

/** Return the comparable parts of a message: hosts move and re-render the rest. */
function said({ role, name, content }: Message): string {
  const of = (type: string) => content.filter((part) => part.type === type) as Fields[];
  return canonicalJson([
    role,
    name ?? "",
    of("text")
      .map(({ value }) => value)
      .join(""),
    of("tool_call").map(({ toolCallId, toolName, parameters }) => [
      toolCallId,
      toolName,
      parameters,
    ]),
    of("tool_result").map(({ toolCallId }) => toolCallId),
    of("data").filter(({ mimeType }) => String(mimeType).startsWith("image/")),
  ]);
}

type Fields = { [key: string]: unknown };

// The tokens and the costs of an answer, as its `usage` part has them, in a few words.

import type { Cost, Part } from "../program/wire.ts";

/** What is known of it; the tokens are those in the agent's context. */
export interface Usage {
  usedTokens?: number | undefined;
  contextWindow?: number | undefined;
  /** All tokens of the chat so far. */
  chatTokens?: number | undefined;
  cost?: Cost;
}

/** Return the usage in a part, undefined where it is another part or none that can be read. */
export function usageIn(part: Part): Usage | undefined {
  const { type, mimeType, data } = part as { type: string; mimeType?: unknown; data?: unknown };
  if (type !== "data" || mimeType !== "usage" || typeof data !== "string") {
    return undefined;
  }
  try {
    const record = JSON.parse(Buffer.from(data, "base64").toString("utf8"));
    const { amount, currency } = record.cost ?? {};
    return {
      usedTokens: count(record.total_tokens),
      contextWindow: count(record.context_window),
      chatTokens: count(record.chat?.total_tokens),
      ...(typeof amount === "number" &&
        typeof currency === "string" && { cost: { amount, currency } }),
    };
  } catch {
    return undefined;
  }
}

/** Return the words for it, such as "64K of 200K tokens, 0.12 USD"; none where nothing is known. */
export function usageWords({ usedTokens, contextWindow, chatTokens, cost }: Usage): string {
  const of = contextWindow ? ` of ${short(contextWindow)}` : "";
  return [
    ...(usedTokens ? [`${short(usedTokens)}${of} tokens in its context`] : []),
    ...(chatTokens ? [`${short(chatTokens)} tokens so far`] : []),
    ...(cost ? [`${Number(cost.amount.toFixed(4))} ${cost.currency} so far`] : []),
  ].join(", ");
}

function short(tokens: number): string {
  const units = [
    { of: 1_000_000, unit: "M" },
    { of: 1_000, unit: "K" },
  ];
  const { of, unit } = units.find(({ of }) => tokens >= of) ?? { of: 1, unit: "" };
  const number = tokens / of;
  return `${number < 10 ? Number(number.toFixed(1)) : Math.round(number)}${unit}`;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

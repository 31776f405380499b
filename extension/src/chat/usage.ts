// The tokens and the costs of the newest answer. The editor shows them where one hovers over the
// language of the text that is open, in the status bar: nobody who doesn't look is bothered.

import type * as vscode from "vscode";
import { isObject } from "../json.ts";
import { usageWords } from "../program/statistics.ts";
import type { Cost, Part } from "../program/wire.ts";

type Item = Pick<vscode.LanguageStatusItem, "text" | "detail" | "dispose">;

export class ShownUsage implements vscode.Disposable {
  private item: Item | undefined;

  constructor(private readonly create: () => Item) {}

  /** Show the usage that a part tells of a model's answer, if it tells any. */
  take(model: string, part: Part): void {
    const words = wordsOf(part);
    if (words) {
      this.item ??= this.create();
      this.item.text = words;
      this.item.detail = model;
    }
  }

  dispose(): void {
    this.item?.dispose();
  }
}

function wordsOf(part: Part): string {
  const { type, mimeType, data } = part as { type: string; mimeType?: unknown; data?: unknown };
  if (type !== "data" || mimeType !== "usage" || typeof data !== "string") {
    return "";
  }
  const record = read(data);
  const [turn, chat] = [record.turn, record.chat].map((one) =>
    isObject(one) ? count(one.total_tokens) : 0,
  );
  const contextWindow = count(record.context_window);
  const total = count(record.total_tokens);
  // Where the agent doesn't tell its context, the record has the tokens of the turn in its place.
  const usedTokens = contextWindow === 0 && total === turn ? 0 : total;
  return usageWords({ usedTokens, contextWindow, ...costIn(record.cost) }, chat ?? 0, turn);
}

function read(data: string): Record<string, unknown> {
  try {
    const record: unknown = JSON.parse(Buffer.from(data, "base64").toString("utf8"));
    return isObject(record) ? record : {};
  } catch {
    return {};
  }
}

function costIn(value: unknown): { cost?: Cost } {
  const { amount, currency } = isObject(value) ? value : {};
  return typeof amount === "number" && typeof currency === "string"
    ? { cost: { amount, currency } }
    : {};
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

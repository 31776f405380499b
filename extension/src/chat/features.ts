// Features of this editor beyond the stable declarations. Each is asked for, never assumed by
// version.

import * as vscode from "vscode";
import type { Capabilities } from "../program/wire.ts";

interface ThinkingPartLike {
  value: string | string[];
  id?: string;
  metadata?: { readonly [key: string]: unknown };
}

type ThinkingPartClass = new (
  value: string | string[],
  id?: string,
  metadata?: { readonly [key: string]: unknown },
) => ThinkingPartLike;

/** The class of thinking parts; undefined in an editor that has none. */
export function thinkingPartClass(): ThinkingPartClass | undefined {
  // Looked up by name: a bundler may not resolve it, and the declarations don't know it.
  const found: unknown = (vscode as Record<string, unknown>).LanguageModelThinkingPart;
  return typeof found === "function" ? (found as ThinkingPartClass) : undefined;
}

/** What can be sent to this editor. It ignores data that it doesn't know. */
export function capabilities(): Capabilities {
  const data = typeof vscode.LanguageModelDataPart === "function";
  return {
    thinking: thinkingPartClass() !== undefined,
    data,
    usage: data,
    marker: data,
    progress: true,
    elicit: true,
    readTextFile: true,
    changes: data,
    changedFiles: true,
  };
}

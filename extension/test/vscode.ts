// A fake of the editor's module: what the extension uses of it, with behaviour, and nothing else.
// `declared` at the end makes the real declarations check it.

import type * as real from "vscode";
import { Disposable, EventEmitter } from "./events.ts";

export { Disposable, EventEmitter };

export class LanguageModelTextPart implements real.LanguageModelTextPart {
  constructor(public value: string) {}
}

export class LanguageModelToolCallPart implements real.LanguageModelToolCallPart {
  constructor(
    public callId: string,
    public name: string,
    public input: object,
  ) {}
}

export class LanguageModelToolResultPart implements real.LanguageModelToolResultPart {
  constructor(
    public callId: string,
    public content: unknown[],
  ) {}
}

export class LanguageModelPromptTsxPart implements real.LanguageModelPromptTsxPart {
  constructor(public value: unknown) {}
}

export class LanguageModelDataPart implements real.LanguageModelDataPart {
  static image(data: Uint8Array, mime: string) {
    return new LanguageModelDataPart(data, mime);
  }

  static json(value: unknown, mime = "text/x-json") {
    return new LanguageModelDataPart(Buffer.from(JSON.stringify(value, null, "\t")), mime);
  }

  static text(value: string, mime = "text/plain") {
    return new LanguageModelDataPart(Buffer.from(value), mime);
  }

  constructor(
    public data: Uint8Array,
    public mimeType: string,
  ) {}
}

/** Not declared, but there in real editors; `withoutThinking` takes it away. */
export let LanguageModelThinkingPart: unknown = class LanguageModelThinkingPart {
  constructor(
    public value: string | string[],
    public id?: string,
    public metadata?: object,
  ) {}
};

/** Be an editor that has no thinking parts, while `run` runs. */
export function withoutThinking(run: () => void): void {
  const kept = LanguageModelThinkingPart;
  LanguageModelThinkingPart = undefined;
  try {
    run();
  } finally {
    LanguageModelThinkingPart = kept;
  }
}

export class LanguageModelToolResult implements real.LanguageModelToolResult {
  constructor(public content: unknown[]) {}
}

export class LanguageModelError extends Error implements real.LanguageModelError {
  static NoPermissions(message?: string) {
    return new LanguageModelError(message, "NoPermissions");
  }

  static Blocked(message?: string) {
    return new LanguageModelError(message, "Blocked");
  }

  static NotFound(message?: string) {
    return new LanguageModelError(message, "NotFound");
  }

  readonly code: string;

  constructor(message?: string, code?: unknown) {
    super(message);
    this.code = typeof code === "string" ? code : "";
  }
}

export enum LanguageModelChatToolMode {
  Auto = 1,
  Required = 2,
}

export enum LanguageModelChatMessageRole {
  User = 1,
  Assistant = 2,
}

export class MarkdownString implements real.MarkdownString {
  isTrusted?: boolean;
  supportHtml?: boolean;

  constructor(
    public value = "",
    public supportThemeIcons = false,
  ) {}

  appendText(text: string) {
    this.value += text;
    return this;
  }

  appendMarkdown(text: string) {
    this.value += text;
    return this;
  }

  appendCodeblock(text: string) {
    this.value += text;
    return this;
  }
}

export class CancellationTokenSource implements real.CancellationTokenSource {
  private readonly emitter = new EventEmitter<unknown>();
  token = {
    isCancellationRequested: false,
    onCancellationRequested: this.emitter.event as real.Event<unknown>,
  };

  cancel() {
    this.token.isCancellationRequested = true;
    this.emitter.fire(undefined);
  }

  dispose() {
    this.emitter.dispose();
  }
}

export * from "./window.ts";

// What the extension may rely on: names that are missing or of another shape are errors here.
type Used =
  | "LanguageModelTextPart"
  | "LanguageModelToolCallPart"
  | "LanguageModelToolResultPart"
  | "LanguageModelPromptTsxPart"
  | "LanguageModelDataPart"
  | "LanguageModelToolResult"
  | "LanguageModelError"
  | "MarkdownString"
  | "Disposable"
  | "EventEmitter"
  | "CancellationTokenSource";
export const declared = {
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  LanguageModelPromptTsxPart,
  LanguageModelDataPart,
  LanguageModelToolResult,
  LanguageModelError,
  MarkdownString,
  Disposable,
  EventEmitter,
  CancellationTokenSource,
} satisfies { [Name in Used]: Like<(typeof real)[Name]> };

/** The constructors and statics of a class, with instances that can stand for the real ones. */
type Like<Class> = Class extends new (
  ...args: infer Args
) => infer Instance
  ? (new (...args: Args) => Pick<Instance, keyof Instance>) & Statics<Class>
  : never;
type Statics<Class> = { [Name in Exclude<keyof Class, "prototype">]: unknown };

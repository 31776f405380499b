// What the editor asked of the program, as the program's traces have it.

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Editor } from "./editor.ts";

export interface Asked {
  modelId: string;
  messages: Message[];
  options: { tools?: unknown[]; modelConfiguration?: Record<string, unknown> };
  settings?: { permissions: string };
}

interface Message {
  content: { type: string; value?: unknown; toolName?: string; toolCallId?: string }[];
}

export class Traces {
  private readonly folder: string;

  constructor(editor: Pick<Editor, "folder">) {
    this.folder = join(editor.folder, "traces");
  }

  /** Return the names of the files; each run of the program writes one. */
  files(): Promise<string[]> {
    return readdir(this.folder);
  }

  /** Return what each run of the program wrote, the oldest run first. */
  private async runs(): Promise<string[]> {
    const files = (await this.files()).map(async (file) => {
      const path = join(this.folder, file);
      return { text: await readFile(path, "utf8"), began: (await stat(path)).birthtimeMs };
    });
    const runs = (await Promise.all(files)).sort((one, other) => one.began - other.began);
    return runs.map(({ text }) => text);
  }

  /** Return the lines of a method, oldest first. */
  async lines(method: string): Promise<string[]> {
    const lines = (await this.runs()).join("").split("\n");
    return lines.filter((line) => line.includes(`"${method}"`));
  }

  /** Return the requests for a model, oldest first. */
  async requestsTo(model: string): Promise<Asked[]> {
    return (await this.lines("lm/provideLanguageModelChatResponse"))
      .map((line) => JSON.parse(line).message.params as Asked)
      .filter(({ modelId }) => modelId === model);
  }

  /** Return how the agent was asked for its sessions, in order, by each run of the program. */
  async sessions(): Promise<string[][]> {
    const asked = /"direction":"out","peer":.*"method":"(session\/(?:new|load|resume|fork))"/g;
    return (await this.runs()).map((text) =>
      [...text.matchAll(asked)].map(([, method]) => method ?? ""),
    );
  }

  /** Return the tools that the model called in the newest of its answers that called any. */
  async callsOfOneAnswer(model: string): Promise<string[]> {
    const messages = (await this.requestsTo(model)).at(-1)?.messages ?? [];
    const calls = messages.map(({ content }) => content.filter(({ type }) => type === "tool_call"));
    const newest = calls.findLast((found) => found.length > 0) ?? [];
    return newest.map(({ toolName }) => toolName ?? "");
  }
}

// The scripted agent as a model, and what it was given.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FAKE_AGENT, PYTHON } from "./places.ts";

/** Steps that ask for a colour by a form, and say what the answer was. */
export const ASKS_BY_FORM: readonly object[] = [
  {
    elicit: {
      mode: "form",
      message: "One thing first:",
      requestedSchema: {
        type: "object",
        properties: { colour: { type: "string", title: "Colour", enum: ["red", "blue"] } },
        required: ["colour"],
      },
    },
  },
  { await: true },
  { outcomes: true },
];

export interface Heard {
  id?: number;
  method?: string;
  params?: {
    sessionId?: string;
    cwd?: string;
    additionalDirectories?: string[];
    configId?: string;
    value?: unknown;
    prompt?: { type: string; text?: string; mimeType?: string; data?: string }[];
  };
  result?: { outcome?: { outcome: string; optionId?: string } };
  process?: number;
  fault?: string;
}

export class ScriptedAgent {
  private readonly log: string;

  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {
    this.log = join(folder, `${name}.jsonl`);
  }

  /** Write the script; return the setting that makes a model of it. */
  async model(script: object, more: object = {}): Promise<object> {
    const file = join(this.folder, `${this.name}.json`);
    await writeFile(file, JSON.stringify(script));
    const acp = { command: PYTHON, args: [FAKE_AGENT, file, this.log] };
    return { name: `Scripted ${this.name}`, agent: { acp }, ...more };
  }

  /** Return everything that it was told. */
  async heard(): Promise<Heard[]> {
    const text = await readFile(this.log, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** Return the texts of its prompts, each with its session. */
  async prompts(): Promise<{ session: string; texts: string[] }[]> {
    return (await this.heard())
      .filter(({ method }) => method === "session/prompt")
      .map(({ params }) => ({
        session: params?.sessionId ?? "",
        texts: (params?.prompt ?? []).flatMap(({ text }) => (text === undefined ? [] : [text])),
      }));
  }

  async faults(): Promise<string[]> {
    return (await this.heard()).flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
  }
}

// OpenCode or another agent that people use, behind which stands a model that does what it is told.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { OUTPUT } from "./places.ts";
import { Program } from "./program.ts";

export interface Event {
  /** What the model was asked, in the dialect of the agent. */
  scenario?: string;
  body?: Asked;
  /** Whose reply wasn't heard to its end. */
  left?: string;
}

export interface Asked {
  messages: { role: string; content: unknown }[];
}

/** Milliseconds; on a machine that has other things to do, the agent takes half a minute to start. */
export const PATIENCE = 120_000;
export const START = { timeout: 240_000 };

export class OpenCode {
  private constructor(private readonly program: Program<Event>) {}

  /** Start its model, in a world of its own; the agent is started by who has its settings. */
  static async start(name: string, agent = "opencode"): Promise<OpenCode> {
    const world = join(OUTPUT, `${name}-world`);
    await rm(world, { recursive: true, force: true });
    const places = [join(world, "asked.jsonl"), agent, join(world, "home")] as const;
    return new OpenCode(await Program.start("tests.real.program", ...places));
  }

  /** How it is started. */
  get definition(): object {
    return JSON.parse(this.program.line);
  }

  /** What makes a model of it. */
  get settings(): Record<string, unknown> {
    const opencode = { name: "OpenCode", agent: this.definition };
    return { "vscodelm.agents": { opencode } };
  }

  /** Return what the model was asked in a scenario, or in any but what agents ask beside a chat. */
  async asked(scenario?: string): Promise<Asked[]> {
    const events = await this.program.kept();
    const wanted = events.filter((event) =>
      scenario ? event.scenario === scenario : event.scenario !== "side call",
    );
    return wanted.flatMap(({ body }) => (body ? [body] : []));
  }

  /** Wait until it doesn't listen to a scenario's reply any more. */
  leaves(scenario: string): Promise<void> {
    return this.program.keeps(({ left }) => left === scenario);
  }

  /** End the model; rejects if a process of the agent's is left. */
  stop(): Promise<void> {
    return this.program.stop();
  }
}

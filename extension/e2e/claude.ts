// A model that does what it is told, for a Claude Code that a person has added. Only its address is preset:
// the agent comes from npm, and its key is the person's.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { OUTPUT } from "./places.ts";
import { Program } from "./program.ts";

interface Event {
  scenario?: string;
  /** The key that came with the request. */
  key?: string;
}

const PRESET = ["ANTHROPIC_BASE_URL", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"];

export class ClaudeModel {
  private constructor(private readonly program: Program<Event>) {}

  static async start(name: string): Promise<ClaudeModel> {
    const world = join(OUTPUT, `${name}-world`);
    await rm(world, { recursive: true, force: true });
    const places = [join(world, "asked.jsonl"), "claude", join(world, "home")] as const;
    return new ClaudeModel(await Program.start("tests.real.program", ...places));
  }

  /** What the editor has in its environment, so that Claude Code finds this model and works for root. */
  get env(): Record<string, string> {
    const { env } = JSON.parse(this.program.line).acp;
    const preset = (env as { name: string; value: string }[]).filter(({ name }) =>
      PRESET.includes(name),
    );
    return Object.fromEntries(preset.map(({ name, value }) => [name, value]));
  }

  /** Return the keys of the requests in a scenario. */
  async keys(scenario: string): Promise<string[]> {
    const events = await this.program.kept();
    return events.flatMap((event) => (event.scenario === scenario ? [event.key ?? ""] : []));
  }

  stop(): Promise<void> {
    return this.program.stop();
  }
}

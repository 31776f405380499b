// An endpoint that speaks Open Responses, and what it was asked.

import { join } from "node:path";
import { OUTPUT } from "./places.ts";
import { Program } from "./program.ts";

export interface Asked {
  model: string;
  instructions?: string;
  previous_response_id?: string;
  input: { type: string }[];
  tools?: unknown[];
}

export interface Event {
  path?: string;
  body?: Asked;
  /** What it was asked for by somebody who didn't hear the answer to its end. */
  hung_up?: string;
}

/** Start one; its line is its address. With a key it refuses who doesn't bring that. */
export function startEndpoint(log: string, ...key: string[]): Promise<Program<Event>> {
  return Program.start("tests.fakes.responses_program", join(OUTPUT, log), ...key);
}

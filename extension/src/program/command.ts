// One command of vscodelm's, run to its end, beside the process that serves the window.

import { execFile } from "node:child_process";
import { COMMAND_MS, MAX_COMMAND_OUTPUT_BYTES } from "../limits.ts";
import { checkLaunch, type Launch } from "./start.ts";

interface Bounds {
  maxBuffer?: number;
  /** In milliseconds; 0 is no limit. */
  timeout?: number;
  /** Ends it. */
  signal?: AbortSignal;
  /** Whether its output is returned even if it fails. */
  takesFailure?: boolean;
}

/**
 * Run it with these arguments and return its output. Rejects with its complaint, or if it exceeds the
 * limits of output or time.
 */
export function runProgram(
  launch: Launch,
  args: string[],
  {
    maxBuffer = MAX_COMMAND_OUTPUT_BYTES,
    timeout = COMMAND_MS,
    signal,
    takesFailure = false,
  }: Bounds = {},
): Promise<string> {
  const { command, env, cwd } = launch;
  return new Promise((resolve, reject) => {
    checkLaunch(launch);
    // The program may clean up after our signal, because it has agents to end.
    const killSignal = signal ? ("SIGTERM" as const) : ("SIGKILL" as const);
    const options = { env, cwd, maxBuffer, timeout, signal, killSignal, windowsHide: true };
    execFile(command, [...launch.args, ...args], options, (error, output, complaints) => {
      if (error === null || (takesFailure && typeof error.code === "number" && output !== "")) {
        resolve(output);
      } else if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
        reject(new Error(`${command} printed more than ${maxBuffer} bytes.`));
      } else if (error.killed) {
        reject(new Error(`${command} didn't end in ${timeout / 1000} seconds.`));
      } else {
        reject(new Error(complaints.trim() || error.message));
      }
    });
  });
}

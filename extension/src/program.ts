// One command of vscodelm's, run to its end, beside the process that serves the window.

import { execFile } from "node:child_process";
import { COMMAND_MS, MAX_COMMAND_OUTPUT_BYTES } from "./limits.ts";
import { checkLaunch, type Launch } from "./start.ts";

interface Bounds {
  maxBuffer: number;
  timeout: number;
}

/**
 * Run it with these arguments; return what it printed. Rejects with what it complained of, or where it
 * prints more or takes longer than it may.
 */
export function runProgram(
  launch: Launch,
  args: string[],
  { maxBuffer, timeout }: Bounds = { maxBuffer: MAX_COMMAND_OUTPUT_BYTES, timeout: COMMAND_MS },
): Promise<string> {
  const { command, env, cwd } = launch;
  return new Promise((resolve, reject) => {
    checkLaunch(launch);
    const bounds = { maxBuffer, timeout, killSignal: "SIGKILL" as const };
    const options = { env, cwd, ...bounds, windowsHide: true };
    execFile(command, [...launch.args, ...args], options, (error, output, complaints) => {
      if (error === null) {
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

// One command of vscodelm's, run to its end, beside the process that serves the window.

import { execFile } from "node:child_process";
import type { Launch } from "./start.ts";

/** Run it with these arguments; return what it printed. Rejects with what it complained of. */
export function runProgram(launch: Launch, args: string[]): Promise<string> {
  const { command, env, cwd } = launch;
  return new Promise((resolve, reject) => {
    const options = { env, cwd, maxBuffer: 64 * 1024 * 1024, windowsHide: true };
    execFile(command, [...launch.args, ...args], options, (error, output, complaints) => {
      if (error) {
        reject(new Error(complaints.trim() || error.message));
      } else {
        resolve(output);
      }
    });
  });
}

// Runs one program of an installation to its end. Its output goes to the log, without passwords.
// When the user cancels, or time runs out, the program and all its children are ended.

import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { INSTALL_STEP_MS, MAX_INSTALL_OUTPUT_BYTES, MAX_LOG_LINE_BYTES } from "../../limits.ts";
import { Lines } from "../lines.ts";
import { withoutCredentials } from "./redact.ts";
import type { Work } from "./work.ts";

/** A program, and the folder that it works in: installers read settings there, and Python its modules. */
export interface InstallStep {
  command: string;
  args: string[];
  folder: string;
  /** Variables beside those of the editor. */
  env?: Record<string, string>;
}

/** Run a program to its end and return its output. Rejects with `ProgramFailed` if it fails. */
export type Run = (step: InstallStep, work: Work) => Promise<string>;

/** A program that failed, with the end of its output. */
export class ProgramFailed extends Error {
  constructor(
    message: string,
    readonly output: string,
  ) {
    super(message);
    this.name = "ProgramFailed";
  }
}

/** As `Run` says, and it rejects where the program takes longer than `limitMs`. */
export async function runStep(
  { command, args, folder, env }: InstallStep,
  { said, signal }: Work,
  limitMs = INSTALL_STEP_MS,
): Promise<string> {
  signal.throwIfAborted();
  const name = basename(command);
  const say = (line: string) => said(withoutCredentials(line));
  say(`> ${[command, ...args].join(" ")}`);
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    detached: process.platform !== "win32", // a group of its own, which can be ended as one
  });
  const printed = new Tail();
  const all = new Tail();
  for (const stream of [child.stdout, child.stderr]) {
    const lines = new Lines(MAX_LOG_LINE_BYTES, say);
    stream.on("data", (chunk: Buffer) => {
      all.push(chunk);
      if (stream === child.stdout) {
        printed.push(chunk);
      }
      lines.push(chunk).forEach(say);
    });
    stream.on("end", () => {
      const rest = lines.rest();
      if (rest !== "") {
        say(rest);
      }
    });
  }
  return new Promise((resolve, reject) => {
    let ended: unknown;
    const end = (why: unknown) => {
      ended = why;
      killTree(child);
      child.stdout.destroy(); // its child processes may still have them open
      child.stderr.destroy();
    };
    const limit = `${name} didn't end in ${limitMs / 1000} seconds.`;
    const tooLate = setTimeout(() => end(new ProgramFailed(limit, all.text())), limitMs);
    const cancelled = () => end(signal.reason);
    signal.addEventListener("abort", cancelled, { once: true });
    const over = (settle: () => void) => {
      clearTimeout(tooLate);
      signal.removeEventListener("abort", cancelled);
      settle();
    };
    child.once("error", (error) => over(() => reject(error)));
    child.once("close", (status) =>
      over(() => {
        if (ended !== undefined) {
          reject(ended);
        } else if (status === 0) {
          resolve(printed.text());
        } else {
          const output = all.text();
          const last = withoutCredentials(output.trim().split("\n").at(-1) ?? "");
          reject(new ProgramFailed(`${name} exited with status ${status}: ${last}`, output));
        }
      }),
    );
  });
}

/** The last bytes of a stream. */
class Tail {
  private held = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.held = Buffer.concat([this.held, chunk]).subarray(-MAX_INSTALL_OUTPUT_BYTES);
  }

  text(): string {
    return this.held.toString("utf8");
  }
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined) {
    return;
  }
  if (process.platform === "win32") {
    // If that can't be started, only the child is ended.
    const killing = spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], {
      windowsHide: true,
    });
    killing.once("error", () => child.kill("SIGKILL"));
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // it has gone already
  }
}

// A program of the tests' own, written in Python: it says one line when it is ready, keeps what happens
// to it in a log, and ends with its input, so none is left behind.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { PYTHON, REPOSITORY } from "./places.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class Program<Event> {
  private constructor(
    /** What it said when it was ready. */
    readonly line: string,
    private readonly child: Child,
    private readonly log: string,
    private readonly complaints: string[],
  ) {}

  static async start<Event>(module: string, log: string, ...args: string[]) {
    await mkdir(dirname(log), { recursive: true });
    await rm(log, { force: true });
    const child = spawn(PYTHON, ["-m", module, log, ...args], {
      cwd: REPOSITORY,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const complaints: string[] = [];
    child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
    for await (const line of createInterface(child.stdout)) {
      return new Program<Event>(line, child, log, complaints);
    }
    throw new Error(`${module} didn't start: ${complaints.join("")}`);
  }

  /** Return what has happened to it. */
  async kept(): Promise<Event[]> {
    const text = await readFile(this.log, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** Wait until something has happened to it. */
  async keeps(is: (event: Event) => boolean): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      if ((await this.kept()).some(is)) {
        return;
      }
      await sleep(100);
    }
    throw new Error("that never happened");
  }

  /** End it; rejects with what it complains of. */
  async stop(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.stdin.end();
    if (this.child.exitCode === null) {
      await gone;
    }
    if (this.child.exitCode !== 0) {
      throw new Error(this.complaints.join(""));
    }
  }
}

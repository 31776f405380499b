// `vscodelm serve-http` as a person starts it, with one model.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PYTHON, REPOSITORY } from "./places.ts";

export class HttpServer {
  private constructor(
    /** Its base URL, the first line that it prints. */
    readonly url: string,
    readonly token: string,
    private readonly child: ChildProcess,
    private readonly complaints: string[],
  ) {}

  /** Start one whose agent works in a folder of its own. All that it keeps is in `folder`, which is emptied. */
  static async start(folder: string, id: string, agent: object): Promise<HttpServer> {
    const [config, tokenFile, cwd] = ["config.json", "token", "elsewhere"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await rm(folder, { recursive: true, force: true });
    await mkdir(cwd, { recursive: true });
    await writeFile(config, JSON.stringify({ models: [{ id, agent }] }));
    const places = ["--config", config, "--token-file", tokenFile, "--cwd", cwd];
    const state = ["--state-dir", join(folder, "state")];
    const child = spawn(PYTHON, ["-m", "vscodelm", "serve-http", ...places, ...state], {
      cwd: REPOSITORY,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const complaints: string[] = [];
    child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
    for await (const line of createInterface(child.stdout)) {
      const token = (await readFile(tokenFile, "utf8")).trim();
      return new HttpServer(line, token, child, complaints);
    }
    throw new Error(`vscodelm serve-http didn't start: ${complaints.join("")}`);
  }

  /** End it; rejects unless it ends well. */
  async stop(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.kill("SIGTERM");
    if (this.child.exitCode === null) {
      await gone;
    }
    if (this.child.exitCode !== 0) {
      throw new Error(this.complaints.join(""));
    }
  }
}

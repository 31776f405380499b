// The one process of a window: started when it is first needed, again after it has ended, never twice.

import type { CancellationToken } from "vscode";
import { type Observer, ServerProcess } from "./process.ts";
import type { Launch } from "./start.ts";
import { checkVersion, whyRefused } from "./version.ts";
import {
  CANCEL,
  type Capabilities,
  CHAT,
  type ChatParams,
  MODELS,
  type Part,
  STATS,
  type Stats,
} from "./wire.ts";

export interface ServerEnvironment {
  clientInfo: { name: string; version: string };
  capabilities: Capabilities;
  /** Find out what to start; rejects with a message for the user where that can't be told. */
  launch(mayAsk: boolean): Promise<Launch>;
  observer: Observer;
  /** How long a process may take to leave by itself. */
  graceMs?: number;
  /** How long it may take to answer the handshake. */
  handshakeMs?: number;
}

export class Server {
  private current: Promise<ServerProcess> | undefined;
  private mayAsk = false;
  private running: ServerProcess | undefined;
  private disposed = false;
  private stops = 0;

  constructor(private readonly environment: ServerEnvironment) {}

  get pid(): number | undefined {
    return this.running?.pid;
  }

  /** Whether it answers somebody just now. */
  get busy(): boolean {
    return this.running?.busy ?? false;
  }

  /** Answer a chat in parts. It resolves when the answer is complete, or was cancelled. */
  async chat(
    params: ChatParams,
    received: (part: Part) => void,
    token: CancellationToken,
  ): Promise<void> {
    const process = await unlessCancelled(this.process(true), token);
    if (process === undefined) {
      return;
    }
    const { id, result } = process.stream(CHAT, params, received);
    const watch = token.onCancellationRequested(() => process.notify(CANCEL, { requestId: id }));
    try {
      await result;
    } finally {
      watch.dispose();
    }
  }

  /** List the models that the process knows by itself, as it has answered. */
  async models(): Promise<unknown> {
    const process = await this.process(false);
    const { result } = process.request<{ models?: unknown } | null>(MODELS, { silent: true });
    return (await result)?.models;
  }

  /** Return what the process has counted. */
  async stats(): Promise<Stats> {
    const process = await this.process(false);
    return process.request<Stats>(STATS, {}).result;
  }

  /** End the process; the next request starts another. */
  async stop(): Promise<void> {
    this.current = undefined;
    this.stops++;
    await this.running?.stop(); // also one that hasn't answered the handshake, and may never
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    await this.stop();
  }

  private process(mayAsk: boolean): Promise<ServerProcess> {
    if (this.disposed) {
      return Promise.reject(new Error("The window is closing."));
    }
    if (this.current !== undefined) {
      // Who may ask the user needn't be content with the failure of one who may not.
      return mayAsk && !this.mayAsk ? this.current.catch(() => this.process(true)) : this.current;
    }
    const starting = this.start(mayAsk);
    this.current = starting;
    this.mayAsk = mayAsk;
    starting.catch(() => this.forget(starting));
    return starting;
  }

  private async start(mayAsk: boolean): Promise<ServerProcess> {
    const { clientInfo, capabilities, observer, launch } = this.environment;
    const stops = this.stops;
    const what = await launch(mayAsk);
    if (stops !== this.stops) {
      throw new Error("vscodelm was stopped."); // while it was looked for, or the user was asked
    }
    let ready = false;
    const process = new ServerProcess(
      what,
      clientInfo,
      capabilities,
      {
        ...observer,
        ended: (message) => {
          this.forget(this.current);
          if (ready) {
            observer.ended(message); // else whoever waits for it to start is told
          }
        },
      },
      this.environment,
    );
    this.running = process;
    process.gone.then(() => {
      if (this.running === process) {
        this.running = undefined;
      }
    });
    try {
      checkVersion(what.command, await process.ready);
      ready = true;
    } catch (error) {
      await process.stop();
      throw whyRefused(what.command, error);
    }
    return process;
  }

  private forget(starting: Promise<ServerProcess> | undefined): void {
    if (this.current === starting) {
      this.current = undefined;
    }
  }
}

/** Wait, but no longer than the token lets: a start can take a minute, and a question to the user longer. */
function unlessCancelled<T>(awaited: Promise<T>, token: CancellationToken): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const watch = token.onCancellationRequested(() => resolve(undefined));
    awaited
      .then((value) => resolve(token.isCancellationRequested ? undefined : value), reject)
      .finally(() => watch.dispose());
  });
}

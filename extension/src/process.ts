// One run of the process `vscodelm`: started, shaken hands with, spoken to, ended.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type Asked, Connection } from "./connection.ts";
import { GRACE_MS, HANDSHAKE_MS, MAX_LOG_LINE_BYTES, OPEN_CALLS_MS } from "./limits.ts";
import { Lines } from "./lines.ts";
import { OpenCalls } from "./open_calls.ts";
import { type Launch, start, whyNotStarted } from "./start.ts";
import {
  CANCEL,
  type Capabilities,
  CHAT,
  type ChatParams,
  INITIALIZE,
  type InitializeResult,
  type Part,
  RESPONSE_PART,
} from "./wire.ts";

/** A process that tells something, as far as it can be answered. */
export type Teller = Pick<ServerProcess, "notify" | "gone">;

export interface Observer {
  /** A line that the process wrote to its standard error. */
  logged(line: string): void;
  /** A notification that isn't a part of an answer. */
  notified(method: string, params: unknown, from: Teller): void;
  complained(what: string): void;
  /** It has ended; `message` tells how. */
  ended(message: string): void;
}

const LAST_WORDS = 5;

/** How long it is waited for: its end, its answer to the handshake, and results of its tool calls. */
export interface Patience {
  graceMs?: number;
  handshakeMs?: number;
  openCallsMs?: number;
}

export class ServerProcess {
  /** Resolves when it has answered the handshake; rejects when it can't be used. */
  readonly ready: Promise<InitializeResult>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly connection: Connection;
  private readonly parts = new Map<number, (part: Part) => void>();
  private readonly lastWords: string[] = [];
  private readonly calls = new OpenCalls();
  private readonly graceMs: number;
  private readonly openCallsMs: number;
  private waiting: NodeJS.Timeout | undefined;
  private isReady = false;
  private retired = false;
  private stopping = false;

  constructor(
    launch: Launch,
    clientInfo: { name: string; version: string },
    capabilities: Capabilities,
    private readonly observer: Observer,
    { graceMs = GRACE_MS, handshakeMs = HANDSHAKE_MS, openCallsMs = OPEN_CALLS_MS }: Patience = {},
  ) {
    this.graceMs = graceMs;
    this.openCallsMs = openCallsMs;
    this.child = start(launch);
    this.connection = new Connection(this.child.stdout, this.child.stdin, {
      notified: (method, params) => this.notified(method, params),
      complained: (what) => observer.complained(what),
      abandoned: (requestId) => {
        this.parts.delete(requestId);
        this.notify(CANCEL, { requestId });
      },
    });
    this.readErrors();
    this.gone = new Promise((resolve) => {
      this.child.once("error", (error) =>
        this.end(`it can't be started: ${whyNotStarted(launch, error)}`, resolve),
      );
      this.child.once("close", (status, signal) =>
        this.end(signal ? `it was ended by ${signal}` : `it exited with status ${status}`, resolve),
      );
    });
    this.ready = this.shakeHands(clientInfo, capabilities, handshakeMs);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Whether requests wait for their answers. */
  get busy(): boolean {
    return this.connection.open > 0;
  }

  /** Ask for something that is answered at once. */
  request<T>(method: string, params: unknown): Asked<T> {
    const asked = this.connection.request<T>(method, params);
    const leave = () => this.leaveWhenDone();
    asked.result.then(leave, leave);
    return asked;
  }

  /** Whether it takes no more than the rest of what it has begun. */
  get isRetired(): boolean {
    return this.retired;
  }

  /** Tell whether a request goes on with a turn that this process has begun. */
  hasBegun({ messages }: ChatParams): boolean {
    return !this.stopping && this.calls.concern(messages);
  }

  /** Ask for an answer, which comes in parts. */
  chat(params: ChatParams, received: (part: Part) => void): Asked<unknown> {
    const asked = this.request(CHAT, params);
    this.calls.close(params.messages);
    this.parts.set(asked.id, (part) => {
      received(part);
      this.calls.sent(part);
    });
    const forget = () => this.parts.delete(asked.id);
    asked.result.then(forget, forget);
    return asked;
  }

  /** Begin nothing more, and end when everything that was begun is done. */
  retire(): void {
    this.retired = true;
    this.leaveWhenDone();
  }

  notify(method: string, params: unknown): void {
    this.connection.notify(method, params);
  }

  /** End it: the end of its input is asking; then it is told, and then it is made to. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.waiting);
    this.connection.close("vscodelm was stopped.");
    this.child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.endsWithin(this.graceMs)) {
        return;
      }
      this.child.kill(signal);
    }
    await this.gone;
  }

  private leaveWhenDone(): void {
    clearTimeout(this.waiting);
    if (!this.retired || this.stopping || (this.isReady && this.busy)) {
      return;
    }
    if (this.calls.size === 0) {
      void this.stop();
    } else {
      this.waiting = setTimeout(() => this.busy || this.stop(), this.openCallsMs);
    }
  }

  private async endsWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, milliseconds, false);
    });
    const ended = await Promise.race([this.gone.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  private async shakeHands(
    clientInfo: { name: string; version: string },
    capabilities: Capabilities,
    milliseconds: number,
  ): Promise<InitializeResult> {
    const { result } = this.connection.request<InitializeResult>(INITIALIZE, {
      clientInfo,
      capabilities,
    });
    const timer = setTimeout(() => {
      this.connection.close(`vscodelm didn't answer in ${milliseconds / 1000} seconds.`);
      this.child.kill("SIGKILL");
    }, milliseconds);
    try {
      const answer = await result;
      this.isReady = true;
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  private notified(method: string, params: unknown): void {
    if (method !== RESPONSE_PART) {
      this.observer.notified(method, params, this);
      return;
    }
    const { requestId, part } = params as { requestId: number; part: Part };
    try {
      this.parts.get(requestId)?.(part);
    } catch (error) {
      // An answer with a hole in it must not look like a whole one.
      this.connection.abandon(requestId, error as Error);
      throw error;
    }
  }

  private readErrors(): void {
    const keep = (line: string) => {
      if (line.trim() !== "") {
        this.observer.logged(line);
        this.lastWords.push(line);
        this.lastWords.splice(0, this.lastWords.length - LAST_WORDS);
      }
    };
    const lines = new Lines(MAX_LOG_LINE_BYTES, (beginning) =>
      keep(`${beginning} [a line of more than ${MAX_LOG_LINE_BYTES} bytes]`),
    );
    this.child.stderr.on("data", (chunk: Buffer) => lines.push(chunk).forEach(keep));
    this.child.stderr.on("end", () => keep(lines.rest()));
    this.child.stderr.on("error", (error) => keep(`its log can't be read: ${error.message}`));
  }

  private end(how: string, resolve: () => void): void {
    clearTimeout(this.waiting);
    const words = this.lastWords.at(-1);
    const message = `vscodelm has ended: ${how}.${words ? ` Its last words: ${words}` : ""}`;
    this.connection.close(message);
    if (!this.stopping) {
      this.stopping = true;
      this.observer.ended(message);
    }
    resolve();
  }
}

// One run of the process `vscodelm`: started, shaken hands with, spoken to, ended.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { OpenCalls } from "../chat/open_calls.ts";
import { GRACE_MS, HANDSHAKE_MS, MAX_LOG_LINE_BYTES, OPEN_CALLS_MS } from "../limits.ts";
import { Connection, methodNotFound, RpcError, type SentRequest } from "./connection.ts";
import { Lines } from "./lines.ts";
import { type Launch, start, whyNotStarted } from "./start.ts";
import {
  CANCEL,
  CHANGED_FILES,
  CHAT,
  type ChatParams,
  ELICIT,
  type ElicitParams,
  type ElicitResult,
  INITIALIZE,
  type InitializeParams,
  type InitializeResult,
  type Part,
  READ_TEXT_FILE,
  RESPONSE_COMPLETE,
  RESPONSE_PART,
  type ReadTextFileResult,
  type ResponseCompleteParams,
  type WatchedFiles,
} from "./wire.ts";

/** A process that tells something, as far as it can be answered. */
export type Teller = Pick<ServerProcess, "notify" | "gone">;

export interface Observer {
  /** A line that the process wrote to its standard error. */
  logged(line: string): void;
  /** A notification that isn't a part of an answer. */
  notified(method: string, params: unknown, from: Teller): void;
  complained(what: string): void;
  /**
   * An agent asks the user while it answers. The signal says that the answer isn't wanted any more.
   */
  elicited(params: ElicitParams, modelId: string, signal: AbortSignal): Promise<ElicitResult>;
  /** An agent reads or writes a file: return its text. Rejects with why it can't be read. */
  textRead(path: unknown): Promise<ReadTextFileResult>;
  /** A turn of an agent ends: return the files that have changed since it began. */
  filesChanged(params: unknown, from: Teller): Promise<WatchedFiles>;
  /** It has ended; `message` tells how. */
  ended(message: string): void;
}

const LAST_WORDS = 5;

/** Times to wait for its end, its answer to the handshake, and results of its tool calls. */
export interface Patience {
  graceMs?: number;
  handshakeMs?: number;
  openCallsMs?: number;
}

/** What a request is told before its result. */
interface Answer {
  modelId: string;
  received(part: Part): void;
  /** Aborted when the request is settled or cancelled: then its agent's questions are over, too. */
  over: AbortController;
  /** The failure that the answer tells in words. */
  told?: RpcError;
}

/** The code of an error that a request fails with (docs/reference/errors.md). */
const REQUEST_FAILED = -32000;

export class ServerProcess {
  /** Resolves when it has answered the handshake; rejects when it can't be used. */
  readonly ready: Promise<InitializeResult>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly connection: Connection;
  private readonly answers = new Map<number, Answer>();
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
    introduction: InitializeParams,
    private readonly observer: Observer,
    { graceMs = GRACE_MS, handshakeMs = HANDSHAKE_MS, openCallsMs = OPEN_CALLS_MS }: Patience = {},
  ) {
    this.graceMs = graceMs;
    this.openCallsMs = openCallsMs;
    this.child = start(launch);
    this.connection = new Connection(this.child.stdout, this.child.stdin, {
      notified: (method, params) => this.notified(method, params),
      requested: (method, params, signal) => this.requested(method, params, signal),
      complained: (what) => observer.complained(what),
      abandoned: (requestId) => {
        this.forget(requestId);
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
    this.ready = this.shakeHands(introduction, handshakeMs);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Whether requests wait for their answers. */
  get busy(): boolean {
    return this.connection.open > 0;
  }

  /** Ask for something that is answered at once. */
  request<T>(method: string, params: unknown): SentRequest<T> {
    const asked = this.connection.request<T>(method, params);
    const leave = () => this.leaveWhenDone();
    asked.result.then(leave, leave);
    return asked;
  }

  /** Whether it only finishes its open requests, and takes no new ones. */
  get isRetired(): boolean {
    return this.retired;
  }

  /** Tell whether a request goes on with a turn that this process has begun. */
  hasBegun({ messages }: ChatParams): boolean {
    return !this.stopping && this.calls.concern(messages);
  }

  /** Ask for an answer, which comes in parts; the result is the failure that it tells, if any. */
  chat(params: ChatParams, received: (part: Part) => void): SentRequest<RpcError | undefined> {
    const { id, result } = this.request(CHAT, params);
    this.calls.close(params.messages);
    const answer: Answer = {
      modelId: params.modelId,
      over: new AbortController(),
      received: (part) => {
        received(part);
        this.calls.sent(part);
      },
    };
    this.answers.set(id, answer);
    const forget = () => this.forget(id);
    result.then(forget, forget);
    return { id, result: result.then(() => answer.told) };
  }

  /** Have the answer to a request end with what was said. */
  cancel(requestId: number): void {
    this.answers.get(requestId)?.over.abort();
    this.notify(CANCEL, { requestId });
  }

  /** Begin nothing more, and end when everything that was begun is done. */
  retire(): void {
    this.retired = true;
    this.leaveWhenDone();
  }

  notify(method: string, params: unknown): void {
    this.connection.notify(method, params);
  }

  /** End it: close its input first, then send a signal, then kill it. */
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
    introduction: InitializeParams,
    milliseconds: number,
  ): Promise<InitializeResult> {
    const { result } = this.connection.request<InitializeResult>(INITIALIZE, introduction);
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
    if (method === RESPONSE_COMPLETE) {
      this.completed(params as ResponseCompleteParams);
      return;
    }
    if (method !== RESPONSE_PART) {
      this.observer.notified(method, params, this);
      return;
    }
    const { requestId, part } = params as { requestId: number; part: Part };
    try {
      this.answers.get(requestId)?.received(part);
    } catch (error) {
      // An answer with a hole in it must not look like a whole one.
      this.connection.abandon(requestId, error as Error);
      throw error;
    }
  }

  private async requested(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (method === READ_TEXT_FILE) {
      return this.observer.textRead((params as { path?: unknown } | undefined)?.path);
    }
    if (method === CHANGED_FILES) {
      return this.observer.filesChanged(params, this);
    }
    if (method !== ELICIT) {
      throw methodNotFound(method);
    }
    const { requestId } = (params ?? {}) as ElicitParams;
    const answer = this.answers.get(requestId);
    if (answer === undefined) {
      this.observer.complained(`a question of an agent has no open request: ${requestId}`);
    }
    if (answer === undefined || answer.over.signal.aborted) {
      return { action: "cancel" } satisfies ElicitResult;
    }
    const either = AbortSignal.any([signal, answer.over.signal]);
    return this.observer.elicited(params as ElicitParams, answer.modelId, either);
  }

  private forget(requestId: number): void {
    this.answers.get(requestId)?.over.abort();
    this.answers.delete(requestId);
  }

  private completed({ requestId, failure }: ResponseCompleteParams): void {
    const answer = this.answers.get(requestId);
    if (answer && failure) {
      const { message, ...data } = failure;
      answer.told = new RpcError(REQUEST_FAILED, message, data);
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

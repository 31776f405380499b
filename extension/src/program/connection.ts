// JSON-RPC 2.0 over two streams, one object a line. Both sides send requests. The ids of the two
// directions are apart: the other side may use any number or string.

import type { Readable, Writable } from "node:stream";
import { encode, isObject } from "../json.ts";
import { MAX_LINE_BYTES, MAX_OPEN_REQUESTS } from "../limits.ts";
import { Lines } from "./lines.ts";

/** An error that the other side answered with. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = "RpcError";
  }
}

/** Errors that this side answers with. */
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const CANCELLED = { code: -32800, message: "The request was cancelled." };
const TOO_MANY = { code: -32000, message: "Too many requests are open." };

/** The other side doesn't want the answer to its request any more. */
const CANCEL_REQUEST = "$/cancelRequest";

/** Return the error for a request whose method this side doesn't have. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
}

/** A request won't be answered, because the other side is gone. */
export class ConnectionClosed extends Error {
  override name = "ConnectionClosed";
}

type RequestId = number | string;

export interface SentRequest<T> {
  id: number;
  result: Promise<T>;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Listener {
  notified(method: string, params: unknown): void;
  /** Answer a request of the other side. The signal says that the answer isn't wanted any more. */
  requested(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** A sent or received line has a fault. */
  complained(what: string): void;
  /** A request was given up, which the other side doesn't know. */
  abandoned(id: number): void;
}

/** Characters of a line that a complaint quotes. */
const TOLD_OF_A_LINE = 200;
/** The id of the request that a line answers, where the beginning of the line shows it. */
const WHOSE = /"(?:id|requestId)":\s*(\d{1,15})\b/;

export class Connection {
  private readonly pending = new Map<number, Pending>();
  /** Requests that were given up, and may be answered still. */
  private readonly abandoned = new Set<number>();
  /** Requests of the other side that wait for this side's answers. */
  private readonly served = new Map<RequestId, AbortController>();
  private readonly lines: Lines;
  private closed: Error | undefined;
  private nextId = 1;

  constructor(
    source: Readable,
    private readonly sink: Writable,
    private readonly listener: Listener,
    private readonly maxLine = MAX_LINE_BYTES,
  ) {
    this.lines = new Lines(maxLine, (beginning) => this.skipped(beginning));
    source.on("data", (chunk: Buffer) => {
      for (const line of this.lines.push(chunk)) {
        this.take(line);
      }
    });
    source.on("error", (error) => listener.complained(`reading failed: ${error.message}`));
    // A write to a process that has just ended. `close` rejects the requests that wait.
    sink.on("error", (error) => listener.complained(`writing failed: ${error.message}`));
  }

  /** The number of requests that wait for their answer. */
  get open(): number {
    return this.pending.size;
  }

  /** Send a request; its id is known before its answer. It rejects if it is too large to be sent. */
  request<T>(method: string, params: unknown): SentRequest<T> {
    const id = this.nextId++;
    const result = new Promise<T>((resolve, reject) => {
      if (this.closed) {
        reject(this.closed);
        return;
      }
      const line = this.line({ jsonrpc: "2.0", id, method, params });
      this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.sink.write(line);
    });
    return { id, result };
  }

  /** Send a notification. */
  notify(method: string, params: unknown): void {
    if (!this.closed) {
      this.sink.write(this.line({ jsonrpc: "2.0", method, params }));
    }
  }

  /** Fail one request, whose answer is not waited for any more. */
  abandon(id: number, error: Error): void {
    const waiting = this.pending.get(id);
    if (waiting !== undefined) {
      this.pending.delete(id);
      this.abandoned.add(id);
      waiting.reject(error);
      this.listener.abandoned(id);
    }
  }

  /** Fail everything that waits, and whatever is asked from now on. The other side gets no more answers. */
  close(reason: string): void {
    this.closed ??= new ConnectionClosed(reason);
    const served = [...this.served.values()];
    this.served.clear();
    for (const answering of served) {
      answering.abort();
    }
    for (const { reject } of this.pending.values()) {
      reject(this.closed);
    }
    this.pending.clear();
  }

  private line(message: object): string {
    const line = `${encode(message)}\n`;
    const size = Buffer.byteLength(line) - 1;
    if (size > this.maxLine) {
      throw new Error(`The message is too large: ${size} bytes of at most ${this.maxLine}.`);
    }
    return line;
  }

  /** Take one line in. A wrong line doesn't stop the lines after it. */
  private take(line: string): void {
    if (line.trim() === "" || this.closed) {
      return;
    }
    try {
      this.understand(line);
    } catch (error) {
      const beginning = line.slice(0, TOLD_OF_A_LINE);
      this.listener.complained(`a line can't be used: ${(error as Error).message}: ${beginning}`);
    }
  }

  private understand(line: string): void {
    const message: unknown = JSON.parse(line);
    if (!isObject(message)) {
      throw new Error("it isn't a JSON object");
    }
    const { method, params, id, error, result } = message;
    if (typeof method === "string") {
      if (id !== undefined) {
        this.serve(requestIdOf(id), method, params);
      } else if (method === CANCEL_REQUEST) {
        this.served.get(requestIdOf((params as { id?: unknown } | undefined)?.id))?.abort();
      } else {
        this.listener.notified(method, params);
      }
      return;
    }
    if (typeof id === "number" && this.abandoned.delete(id)) {
      return;
    }
    const asked = id === null && isObject(error) ? this.onlyPending() : id;
    const waiting = typeof asked === "number" ? this.pending.get(asked) : undefined;
    if (waiting === undefined) {
      throw new Error("no request waits for this answer");
    }
    this.pending.delete(asked as number);
    if (error === undefined || error === null) {
      waiting.resolve(result);
    } else {
      waiting.reject(errorOf(error));
    }
  }

  /** Answer a request of the other side once: also when it is cancelled. */
  private serve(id: RequestId, method: string, params: unknown): void {
    if (this.served.has(id)) {
      throw new Error(`the request ${JSON.stringify(id)} is open already`);
    }
    if (this.served.size >= MAX_OPEN_REQUESTS) {
      this.sink.write(this.line({ jsonrpc: "2.0", id, error: TOO_MANY }));
      return;
    }
    const answering = new AbortController();
    const settle = (answer: object) => {
      if (this.served.get(id) === answering) {
        const line = this.line({ jsonrpc: "2.0", id, ...answer });
        this.served.delete(id);
        this.sink.write(line);
      }
    };
    this.served.set(id, answering);
    answering.signal.addEventListener("abort", () => settle({ error: CANCELLED }));
    this.listener
      .requested(method, params, answering.signal)
      .then((result) => settle({ result: result ?? null }))
      .catch((error) => settle({ error: errorFor(error) }));
  }

  /**
   * An answer to an unreadable request has no id. If only one request waits, the answer belongs to
   * that.
   */
  private onlyPending(): number | undefined {
    const [only, ...more] = this.pending.keys();
    return more.length === 0 ? only : undefined;
  }

  private skipped(beginning: string): void {
    const what = `a line is longer than ${this.maxLine} bytes`;
    this.listener.complained(`${what}: ${beginning.slice(0, TOLD_OF_A_LINE)}`);
    const [, id] = WHOSE.exec(beginning) ?? [];
    if (id !== undefined) {
      this.abandon(Number(id), new Error(`The answer can't be read: ${what}.`));
    }
  }
}

function errorOf(error: unknown): RpcError {
  const { code, message, data } = isObject(error) ? error : {};
  return new RpcError(
    typeof code === "number" ? code : 0,
    typeof message === "string" ? message : `an error without words: ${JSON.stringify(error)}`,
    data,
  );
}

function errorFor(error: unknown): { code: number; message: string } {
  const code = error instanceof RpcError ? error.code : INTERNAL_ERROR;
  return { code, message: error instanceof Error ? error.message : String(error) };
}

function requestIdOf(id: unknown): RequestId {
  if (typeof id !== "number" && typeof id !== "string") {
    throw new Error("its id is neither a number nor a string");
  }
  return id;
}

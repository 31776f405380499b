// JSON-RPC 2.0 over two streams, one object a line. It asks and is told; nothing is asked of it.

import type { Readable, Writable } from "node:stream";
import { encode } from "./json.ts";
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

/** What was asked, and will not be answered, because the other side is gone. */
export class ConnectionClosed extends Error {
  override name = "ConnectionClosed";
}

export interface Asked<T> {
  id: number;
  result: Promise<T>;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Incoming {
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export interface Listener {
  notified(method: string, params: unknown): void;
  complained(what: string): void;
}

export class Connection {
  private readonly pending = new Map<number, Pending>();
  private readonly lines = new Lines();
  private closed: Error | undefined;
  private nextId = 1;

  constructor(
    source: Readable,
    private readonly sink: Writable,
    private readonly listener: Listener,
  ) {
    source.on("data", (chunk: Buffer) => {
      for (const line of this.lines.push(chunk)) {
        this.take(line);
      }
    });
    // A write to a process that has just ended; who waits is told by `close`.
    sink.on("error", (error) => listener.complained(`writing failed: ${error.message}`));
  }

  /** How many requests wait for their answer. */
  get open(): number {
    return this.pending.size;
  }

  /** Send a request; its id is known before its answer. */
  request<T>(method: string, params: unknown): Asked<T> {
    const id = this.nextId++;
    const result = new Promise<T>((resolve, reject) => {
      if (this.closed) {
        reject(this.closed);
        return;
      }
      this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.write({ jsonrpc: "2.0", id, method, params });
    });
    return { id, result };
  }

  /** Send what isn't answered. */
  notify(method: string, params: unknown): void {
    if (!this.closed) {
      this.write({ jsonrpc: "2.0", method, params });
    }
  }

  /** Fail everything that waits, and whatever is asked from now on. */
  close(reason: string): void {
    this.closed ??= new ConnectionClosed(reason);
    for (const { reject } of this.pending.values()) {
      reject(this.closed);
    }
    this.pending.clear();
  }

  private write(message: object): void {
    this.sink.write(`${encode(message)}\n`);
  }

  private take(line: string): void {
    if (line.trim() === "" || this.closed) {
      return;
    }
    let message: Incoming;
    try {
      message = JSON.parse(line);
    } catch {
      this.listener.complained(`a line isn't JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (message.method !== undefined) {
      this.listener.notified(message.method, message.params);
      return;
    }
    const waiting = typeof message.id === "number" ? this.pending.get(message.id) : undefined;
    if (waiting === undefined) {
      this.listener.complained(`an answer that nobody waits for: ${line.slice(0, 200)}`);
      return;
    }
    this.pending.delete(message.id as number);
    if (message.error) {
      const { code, message: text, data } = message.error;
      waiting.reject(new RpcError(code, text, data));
    } else {
      waiting.resolve(message.result);
    }
  }
}

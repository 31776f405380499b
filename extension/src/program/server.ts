// The process of a window: started when it is first needed, and again after it has ended. One takes new
// requests; a replaced one finishes its open requests.

import type { CancellationToken } from "vscode";
import type { ConfiguredModel } from "../agents/agents.ts";
import { RpcError } from "./connection.ts";
import { type Observer, ServerProcess } from "./process.ts";
import type { Launch } from "./start.ts";
import { checkVersion, whyRefused } from "./version.ts";
import {
  type AccountParams,
  AGENT_SESSIONS,
  CANCEL,
  type Capabilities,
  type ChatParams,
  FOLDERS_CHANGED,
  INSPECT,
  type InspectResult,
  type ListedSession,
  LOG_IN,
  LOG_OUT,
  MCP_SERVERS_CHANGED,
  type McpServer,
  MODELS,
  type ModelsParams,
  type ModelsResult,
  type Part,
  type SessionsParams,
  STATS,
  type Stats,
} from "./wire.ts";

const METHOD_NOT_FOUND = -32601;

interface ServerEnvironment {
  clientInfo: { name: string; version: string };
  capabilities: Capabilities;
  /** Return the folders of the window; a new process is told of them. */
  folders?(): string[];
  /** Return the MCP servers that agents are given; a new process is told of them. */
  mcpServers?(): McpServer[];
  /** Find the program to start; rejects with a message for the user if there is none. */
  launch(mayAsk: boolean): Promise<Launch>;
  observer: Observer;
  /** Time for a process to exit by itself. */
  graceMs?: number;
  /** Time for its answer to the handshake. */
  handshakeMs?: number;
  /** Time that a replaced process waits for results of its tool calls. */
  openCallsMs?: number;
}

export class Server {
  private current: Promise<ServerProcess> | undefined;
  private mayAsk = false;
  private readonly processes = new Set<ServerProcess>();
  private disposed = false;
  private stops = 0;
  private renewals = 0;

  constructor(private readonly environment: ServerEnvironment) {}

  /** The newest process. */
  get pid(): number | undefined {
    return [...this.processes].at(-1)?.pid;
  }

  /**
   * Answer a chat in parts. It resolves when the answer is complete, or was cancelled; with a failure if
   * the answer tells one in words.
   */
  async chat(
    params: ChatParams,
    received: (part: Part) => void,
    token: CancellationToken,
  ): Promise<RpcError | undefined> {
    const begun = [...this.processes].findLast((one) => one.hasBegun(params));
    let process = begun ?? (await unlessCancelled(this.process(true), token));
    while (process?.isRetired && process !== begun) {
      process = await unlessCancelled(this.process(true), token); // it was replaced at this very moment
    }
    if (process === undefined) {
      return undefined;
    }
    const { id, result } = process.chat(params, received);
    const watch = token.onCancellationRequested(() => process.cancel(id));
    try {
      return await result;
    } finally {
      watch.dispose();
    }
  }

  /** List the models that the process knows by itself, and these of the settings, as it has answered. */
  async models(configured: ConfiguredModel[] = []): Promise<ModelsResult | null> {
    const process = await this.process(false);
    const params: ModelsParams = { silent: true, agents: {}, settings: {}, information: {} };
    for (const { id, agent, settings, shown } of configured) {
      params.agents[id] = agent;
      params.settings[id] = settings;
      params.information[id] = shown;
    }
    return process.request<ModelsResult | null>(MODELS, params).result;
  }

  /**
   * Have an agent log in, or out where no method is named; return whether that was done, and not
   * cancelled. Rejects with why it can't.
   */
  async account(params: AccountParams, token: CancellationToken): Promise<boolean> {
    const method = params.methodId ? LOG_IN : LOG_OUT;
    return (await this.unlessGivenUp(method, params, token)) !== undefined;
  }

  /** Return the sessions that an agent keeps; undefined if the user has cancelled that. */
  async sessions(
    params: SessionsParams,
    token: CancellationToken,
  ): Promise<ListedSession[] | undefined> {
    const result = await this.unlessGivenUp(AGENT_SESSIONS, params, token);
    return (result as { sessions: ListedSession[] } | undefined)?.sessions;
  }

  /** Return the answer to a request, undefined if it was cancelled before. */
  private async unlessGivenUp(
    method: string,
    params: object,
    token: CancellationToken,
  ): Promise<unknown> {
    const process = await unlessCancelled(this.process(true), token);
    if (process === undefined) {
      return undefined;
    }
    const { id, result } = process.request(method, params);
    const watch = token.onCancellationRequested(() => process.notify(CANCEL, { requestId: id }));
    try {
      const answer = await result;
      return token.isCancellationRequested ? undefined : answer;
    } catch (error) {
      if (!token.isCancellationRequested) {
        throw error;
      }
      return undefined;
    } finally {
      watch.dispose();
    }
  }

  /** Return the counters of the process. */
  async stats(): Promise<Stats> {
    const process = await this.process(false);
    return process.request<Stats>(STATS, {}).result;
  }

  /** Return the newest decisions of the process, with the page that draws them if `page` says so. */
  async inspect(page: boolean): Promise<InspectResult> {
    const process = await this.process(false);
    try {
      return await process.request<InspectResult>(INSPECT, page ? { page } : {}).result;
    } catch (error) {
      throw error instanceof RpcError && error.code === METHOD_NOT_FOUND
        ? new Error("This vscodelm is too old to report its decisions. Update it.")
        : error;
    }
  }

  /** Return the version of the process. */
  async version(): Promise<string> {
    const process = await this.process(false);
    return (await process.ready).serverInfo.version;
  }

  /**
   * Send new requests to a new process. Requests that continue a turn of the present process still
   * go to it; it ends when all of those are done.
   */
  renew(): void {
    this.current = undefined;
    this.renewals++;
    for (const process of this.processes) {
      process.retire();
    }
  }

  /** Tell the processes that run that the window has other folders. */
  foldersChanged(): void {
    const workspaceFolders = this.environment.folders?.() ?? [];
    for (const process of this.processes) {
      process.notify(FOLDERS_CHANGED, { workspaceFolders });
    }
  }

  /** Tell the processes that run that agents are given other MCP servers. */
  mcpServersChanged(): void {
    const mcpServers = this.environment.mcpServers?.() ?? [];
    for (const process of this.processes) {
      process.notify(MCP_SERVERS_CHANGED, { mcpServers });
    }
  }

  /** End the process; the next request starts another. */
  async stop(): Promise<void> {
    this.current = undefined;
    this.stops++;
    // also those that haven't answered the handshake, and may never
    await Promise.all([...this.processes].map((process) => process.stop()));
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    await this.stop();
  }

  /** Return the process that takes new requests; another one if it is replaced while it starts. */
  private async process(mayAsk: boolean): Promise<ServerProcess> {
    for (;;) {
      const { renewals } = this;
      try {
        const process = await this.newest(mayAsk);
        if (!process.isRetired) {
          return process;
        }
      } catch (error) {
        if (renewals === this.renewals) {
          throw error;
        }
      }
    }
  }

  private newest(mayAsk: boolean): Promise<ServerProcess> {
    if (this.disposed) {
      return Promise.reject(new Error("The window is closing."));
    }
    if (this.current !== undefined) {
      // A caller that may ask the user starts anew where a caller that may not has failed.
      return mayAsk && !this.mayAsk ? this.current.catch(() => this.newest(true)) : this.current;
    }
    const starting = this.start(mayAsk);
    this.current = starting;
    this.mayAsk = mayAsk;
    starting.catch(() => this.forget(starting));
    return starting;
  }

  private async start(mayAsk: boolean): Promise<ServerProcess> {
    const { clientInfo, capabilities, folders, mcpServers, observer, launch } = this.environment;
    const { stops, renewals } = this;
    const what = await launch(mayAsk);
    if (stops !== this.stops || renewals !== this.renewals) {
      throw new Error("vscodelm was stopped."); // while it was looked for, or the user was asked
    }
    let ready = false;
    const servers = mcpServers?.() ?? [];
    const process = new ServerProcess(
      what,
      {
        clientInfo,
        capabilities,
        workspaceFolders: folders?.() ?? [],
        ...(servers.length > 0 && { mcpServers: servers }),
      },
      {
        ...observer,
        ended: (message) => {
          if (!process.isRetired) {
            this.forget(this.current);
          }
          if (ready) {
            observer.ended(message); // else the requests that wait for its start fail with it
          }
        },
      },
      this.environment,
    );
    this.processes.add(process);
    process.gone.then(() => this.processes.delete(process));
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

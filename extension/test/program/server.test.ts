import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { CancellationTokenSource } from "vscode";
import { fixesOf, messageOf } from "../../src/chat/failures.ts";
import {
  GRACE_MS,
  HANDSHAKE_MS,
  KEPT_OF_LONG_LINE_BYTES,
  MAX_LOG_LINE_BYTES,
  OPEN_CALLS_MS,
} from "../../src/limits.ts";
import { RpcError } from "../../src/program/connection.ts";
import type { Patience } from "../../src/program/process.ts";
import { Server } from "../../src/program/server.ts";
import type {
  ChatParams,
  ElicitParams,
  ElicitResult,
  Message,
  Part,
  TextPart,
} from "../../src/program/wire.ts";

const FAKE = fileURLToPath(new URL("../fake_server.mjs", import.meta.url));
const never = new CancellationTokenSource().token;
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.dispose()));
});

interface Seen {
  logged: string[];
  complained: string[];
  notified: string[];
  ended: string[];
  launches: boolean[];
  elicited: {
    params: ElicitParams;
    modelId: string;
    signal: AbortSignal;
    resolve(result: ElicitResult): void;
  }[];
}

function serve(how: () => string = () => "", patience: Patience = {}): [Server, Seen] {
  const seen: Seen = {
    logged: [],
    complained: [],
    notified: [],
    ended: [],
    launches: [],
    elicited: [],
  };
  const server = new Server({
    clientInfo: { name: "test", version: "1" },
    capabilities: {
      ...{ thinking: true, data: true, usage: true, marker: true },
      ...{ progress: true, elicit: true, readTextFile: true, changes: true, changedFiles: true },
    },
    graceMs: 200,
    ...patience,
    launch: async (mayAsk) => {
      seen.launches.push(mayAsk);
      const mode = how();
      if (mode === "missing" && !mayAsk) {
        throw new Error("not installed");
      }
      const args = [FAKE, mode];
      const env = { ...process.env, SECRET: "s" };
      return { command: process.execPath, args, env, cwd: tmpdir() };
    },
    observer: {
      logged: (line) => seen.logged.push(line),
      complained: (what) => seen.complained.push(what),
      notified: (method) => seen.notified.push(method),
      textRead: async (path) => {
        if (path !== "/a.py") {
          throw new Error("It is a folder.");
        }
        return { text: "a", isDirty: true };
      },
      filesChanged: async (params) => {
        expect(params).toEqual({ watch: 1 });
        return { paths: ["/a.py"], more: 2 };
      },
      elicited: (params, modelId, signal) =>
        new Promise((resolve) => {
          seen.elicited.push({ params, modelId, signal, resolve });
        }),
      ended: (message) => seen.ended.push(message),
    },
  });
  servers.push(server);
  return [server, seen];
}

function params(text: string): ChatParams {
  const content = [{ type: "text", value: text }];
  return { modelId: "m", messages: [{ role: "user", content }], options: { toolMode: "auto" } };
}

async function ask(server: Server, text: string, token = never): Promise<string> {
  const parts: Part[] = [];
  await server.chat(params(text), (part) => parts.push(part), token);
  return parts.map((part) => (part as TextPart).value).join("|");
}

test("answers stream, each to whoever asked", async () => {
  const [server, seen] = serve();
  const answers = await Promise.all([ask(server, "a b c"), ask(server, "d e")]);
  expect(answers).toEqual(["a|b|c", "d|e"]);
  expect(seen.launches).toHaveLength(1);
});

test("a failure that an answer tells comes with the end of the answer", async () => {
  const [server] = serve();
  const parts: Part[] = [];
  const told = await server.chat(params("told"), (part) => parts.push(part), never);
  expect(parts).toEqual([{ type: "text", value: "Log in first." }]);
  expect(told).toBeInstanceOf(RpcError);
  expect(told).toMatchObject({
    message: "Log in first.",
    data: { kind: "NoPermissions", fixes: [{ type: "login", title: "Log in", methodId: "oauth" }] },
  });
  expect(fixesOf(told)).toHaveLength(1);
  expect(await server.chat(params("a"), () => {}, never)).toBeUndefined();
});

test("everything of a request reaches the process, and it works in its folder with its secrets", async () => {
  const [server] = serve();
  expect(JSON.parse(await ask(server, "echo"))).toEqual(params("echo"));
  expect(await ask(server, "cwd")).toBe(`${tmpdir()} s`);
});

test("a cancel reaches the process, and the request resolves with what was said", async () => {
  const [server] = serve();
  const source = new CancellationTokenSource();
  const parts: Part[] = [];
  const chat = server.chat(
    params("hang"),
    (part) => {
      parts.push(part);
      source.cancel();
    },
    source.token,
  );
  await chat;
  expect(parts).toHaveLength(1);
  expect(await ask(server, "hanging")).toBe("0");
});

test("what is cancelled before the process runs is never asked", async () => {
  const [server] = serve();
  const source = new CancellationTokenSource();
  const chat = ask(server, "hang", source.token);
  source.cancel();
  expect(await chat).toBe("");
});

test("who cancels while the process starts doesn't wait for it", async () => {
  const [server] = serve(() => "silent");
  const source = new CancellationTokenSource();
  const chat = ask(server, "a", source.token);
  await vi.waitFor(() => expect(server.pid).toBeDefined());
  source.cancel();
  expect(await chat).toBe("");
});

test("an error arrives with its data", async () => {
  const [server] = serve();
  const error = await ask(server, "blocked").catch((caught) => caught);
  expect(error).toBeInstanceOf(RpcError);
  expect(error.data.kind).toBe("Blocked");
});

test("after a crash what waits fails with its reason, and the next request works", async () => {
  const [server, seen] = serve();
  const first = await ask(server, "pid");
  const hanging = ask(server, "hang");
  const crashing = ask(server, "crash");
  const message = "vscodelm has ended: it exited with status 7. Its last words: boom";
  await expect(crashing).rejects.toThrow(message);
  await expect(hanging).rejects.toThrow(message);
  expect(seen.ended).toEqual([message]);
  expect(await ask(server, "pid")).not.toBe(first);
  expect(seen.launches).toHaveLength(2);
});

test("a process that can't start fails the request with its last words, and nothing else", async () => {
  const [server, seen] = serve(() => "dies");
  await expect(ask(server, "a")).rejects.toThrow("status 3. Its last words: time=00:00:00 level=");
  expect(seen.ended).toEqual([]);
  expect(seen.launches).toHaveLength(1);
});

test("a program that isn't there is said to be so", async () => {
  const [server] = serve();
  vi.spyOn(
    (server as unknown as { environment: { launch(): unknown } }).environment,
    "launch",
  ).mockResolvedValue({ command: "/nowhere/vscodelm", args: [], env: {}, cwd: tmpdir() });
  await expect(ask(server, "a")).rejects.toThrow(
    "it can't be started: there is no program /nowhere/vscodelm",
  );
});

test("a program that never answers the handshake is ended, told, and started again when asked", async () => {
  const [server, seen] = serve(() => "silent", { handshakeMs: 300 });
  const error = await ask(server, "a").catch((caught) => caught);
  expect(messageOf(error)).toMatch(
    /^vscodelm didn't answer in 0.3 seconds\. Send your message again/,
  );
  expect(server.pid).toBeUndefined();
  expect(seen.ended).toEqual([]);
  await expect(ask(server, "a")).rejects.toThrow("didn't answer");
  expect(seen.launches).toHaveLength(2);
});

test("unless it is said otherwise a program has its time to answer, and to leave", async () => {
  const [server] = serve();
  const { environment } = server as unknown as { environment: Patience };
  delete environment.graceMs;
  const waits = vi.spyOn(globalThis, "setTimeout");
  await ask(server, "a");
  expect(waits).toHaveBeenCalledWith(expect.any(Function), HANDSHAKE_MS);
  await server.stop();
  expect(waits).toHaveBeenCalledWith(expect.any(Function), GRACE_MS, false);
});

test.each([
  ["version=0.0.9", "is 0.0.9; this extension needs vscodelm 0.1.0 or newer"],
  ["stranger", "doesn't know the handshake; this extension needs vscodelm 0.1.0"],
])("a program that is too old is ended and told to be so: %s", async (how, complaint) => {
  const [server, seen] = serve(() => how);
  const error = await ask(server, "a").catch((caught) => caught);
  expect(error).toMatchObject({ kind: "NotFound", message: expect.stringContaining(complaint) });
  expect(server.pid).toBeUndefined();
  expect(seen.ended).toEqual([]);
});

test("what the process has counted is asked of it", async () => {
  const [server] = serve();
  expect(await server.stats()).toMatchObject({ sessions: 3, matchesByRule: { prefix: 1 } });
});

test("whoever may ask the user isn't content with the failure of one who may not", async () => {
  const [server, seen] = serve(() => "missing");
  const silent = server.models();
  const chat = ask(server, "a");
  await expect(silent).rejects.toThrow("not installed");
  expect(await chat).toBe("a");
  expect(seen.launches).toEqual([false, true]);
});

test("the models of the process are listed", async () => {
  const [server] = serve();
  expect(await server.models()).toEqual({ models: [expect.objectContaining({ id: "own" })] });
});

test("noise is told and does no harm, and notices are passed on", async () => {
  const [server, seen] = serve();
  expect(await ask(server, "noise")).toBe("");
  expect(seen.complained).toHaveLength(2);
  expect(seen.notified).toContain("lm/didChangeLanguageModelChatInformation");
});

test("lines that are no objects lose no part of an answer", async () => {
  const [server, seen] = serve();
  expect(await ask(server, "null")).toBe("before|after");
  expect(seen.complained).toHaveLength(2);
});

test("a part that can't be used fails its request, which is cancelled, and no other", async () => {
  const [server, seen] = serve();
  const hanging = ask(server, "hang").catch((error) => error.message);
  const parts: unknown[] = [];
  const chat = server.chat(
    params("holes"),
    (part) => {
      parts.push(part.type);
    },
    never,
  );
  await expect(chat).rejects.toThrow("null");
  expect(parts).toEqual(["text"]);
  expect(seen.complained).toEqual([expect.stringContaining("null")]);
  expect(await ask(server, "a b")).toBe("a|b");
  expect(await ask(server, "hanging")).toBe("1"); // the other was cancelled
  await server.stop();
  expect(await hanging).toBe("vscodelm was stopped.");
});

test("a line of the log that is too long is cut, and those after it are as they were", async () => {
  const [server, seen] = serve();
  await ask(server, "long log");
  await vi.waitFor(() => expect(seen.logged).toHaveLength(3), { timeout: 10_000 });
  expect(seen.logged).toEqual([
    "x".repeat(MAX_LOG_LINE_BYTES),
    `${"y".repeat(KEPT_OF_LONG_LINE_BYTES)} [a line of more than ${MAX_LOG_LINE_BYTES} bytes]`,
    "short",
  ]);
});

test("a program that can't even be tried fails the request, and the next one is served", async () => {
  let command = "a\0b";
  const [server] = serve();
  const environment = (server as unknown as { environment: { launch(): unknown } }).environment;
  const launch = environment.launch;
  vi.spyOn(environment, "launch").mockImplementation(async () =>
    Object.assign((await launch()) as object, command === "" ? {} : { command }),
  );
  await expect(ask(server, "a")).rejects.toThrow("the program's path holds a NUL character");
  command = "";
  expect(await ask(server, "a")).toBe("a");
});

test("a stopped process is gone, what waited fails, and the next request starts another", async () => {
  const [server, seen] = serve();
  const pid = Number(await ask(server, "pid"));
  const hanging = ask(server, "hang");
  const stopped = server.stop();
  await expect(hanging).rejects.toThrow("vscodelm was stopped.");
  await stopped;
  expect(() => process.kill(pid, 0)).toThrow();
  expect(seen.ended).toEqual([]);
  expect(await ask(server, "a")).toBe("a");
});

test("a process that doesn't leave by itself is made to", async () => {
  const [server] = serve(() => "lingers");
  const pid = Number(await ask(server, "pid"));
  await server.stop();
  expect(() => process.kill(pid, 0)).toThrow();
});

test("a window that closes doesn't wait for a process that still starts", async () => {
  const [server] = serve(() => "silent");
  const chat = ask(server, "a").catch((error) => error.message);
  await vi.waitFor(() => expect(server.pid).toBeDefined());
  const pid = Number(server.pid);
  await server.dispose();
  expect(await chat).toBe("vscodelm was stopped.");
  expect(() => process.kill(pid, 0)).toThrow();
});

test("what is stopped while the program is looked for isn't started", async () => {
  const [server] = serve();
  const chat = ask(server, "a").catch((error) => error.message);
  await server.stop();
  expect(await chat).toBe("vscodelm was stopped.");
  expect(server.pid).toBeUndefined();
});

test("nothing starts in a window that is closing", async () => {
  const [server, seen] = serve();
  await server.dispose();
  await expect(ask(server, "a")).rejects.toThrow("The window is closing.");
  expect(seen.launches).toEqual([]);
});

/** Ask for what takes until it is finished; resolves when it is begun, with its end. */
async function begin(server: Server): Promise<{ pid: number; answer: Promise<string> }> {
  const pid = Number(await ask(server, "pid"));
  let answer: Promise<string> | undefined;
  await new Promise<void>((begun) => {
    let text = "";
    const hear = (part: Part) => {
      text += (part as TextPart).value;
      begun();
    };
    answer = server.chat(params("hang"), hear, never).then(() => text);
  });
  return { pid, answer: answer as Promise<string> };
}

const CALLED: Message[] = [
  { role: "user", content: [{ type: "text", value: "call" }] },
  {
    role: "assistant",
    content: [{ type: "tool_call", toolCallId: "call-1", toolName: "t", parameters: {} }],
  },
];

/** Go on with the chat in which a tool was called: by its result, or by something else. */
async function goOn(server: Server, content: Part): Promise<number> {
  let text = "";
  const messages = [...CALLED, { role: "user" as const, content: [content] }];
  await server.chat(
    { ...params(""), messages },
    (part) => {
      text += (part as TextPart).value;
    },
    never,
  );
  return Number(text);
}

const RESULT: Part = { type: "tool_result", toolCallId: "call-1", result: "pid" };
const SOON = { timeout: 20_000 };

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a new process answers what is asked anew, and nothing that runs is cut off", async () => {
  const [server, seen] = serve();
  const { pid, answer } = await begin(server);
  server.renew();
  const next = Number(await ask(server, "pid"));
  expect(next).not.toBe(pid);
  expect(isThere(pid)).toBe(true);
  process.kill(pid, "SIGUSR2"); // the fake finishes what hangs
  expect(await answer).toBe(`well done by ${pid}`);
  await vi.waitFor(() => expect(isThere(pid)).toBe(false), SOON);
  expect(await ask(server, "pid")).toBe(String(next));
  expect(seen.ended).toEqual([]);
});

test("a process that does nothing is replaced at once", async () => {
  const [server] = serve();
  const pid = Number(await ask(server, "pid"));
  server.renew();
  await vi.waitFor(() => expect(isThere(pid)).toBe(false), SOON);
  expect(server.pid).toBeUndefined();
  expect(Number(await ask(server, "pid"))).not.toBe(pid);
});

test.each([
  ["the result of a call", RESULT],
  ["something else than a result", { type: "text", value: "pid" }],
])("%s goes to the process that called, though another one is there", async (_, said) => {
  const [server] = serve();
  const pid = Number(await ask(server, "pid"));
  await ask(server, "call");
  server.renew();
  expect(Number(await ask(server, "pid"))).not.toBe(pid);
  expect(isThere(pid)).toBe(true);
  expect(await goOn(server, said)).toBe(pid);
  await vi.waitFor(() => expect(isThere(pid)).toBe(false), SOON);
  expect(await goOn(server, said)).not.toBe(pid); // as any chat that was begun elsewhere
});

test("a call that nobody answers doesn't keep a process for ever", async () => {
  const [server] = serve(() => "", { openCallsMs: 50 });
  const pid = Number(await ask(server, "pid"));
  await ask(server, "call");
  server.renew();
  await vi.waitFor(() => expect(isThere(pid)).toBe(false), SOON);
  expect(await goOn(server, RESULT)).not.toBe(pid);
});

test("unless it is said otherwise a call has half an hour to be answered", async () => {
  const [server] = serve();
  await ask(server, "call");
  const waits = vi.spyOn(globalThis, "setTimeout");
  server.renew();
  expect(waits).toHaveBeenCalledWith(expect.any(Function), OPEN_CALLS_MS);
});

test("what waits for a process that is replaced while it starts is answered once, by the next", async () => {
  const modes = ["silent", ""];
  const [server, seen] = serve(() => modes.shift() as string);
  const chat = ask(server, "pid");
  await vi.waitFor(() => expect(server.pid).toBeDefined(), SOON);
  const pid = server.pid as number;
  server.renew();
  expect(Number(await chat)).not.toBe(pid);
  expect(seen.launches).toHaveLength(2);
  expect(isThere(pid)).toBe(false);
});

test("what is replaced while the program is looked for isn't started", async () => {
  const [server, seen] = serve();
  const chat = ask(server, "pid");
  server.renew();
  expect(await chat).toBe(String(server.pid));
  expect(seen.launches).toHaveLength(2);
});

test("all processes are ended with the window", async () => {
  const [server] = serve();
  const { pid, answer } = await begin(server);
  const cut = answer.catch((error) => error.message);
  server.renew();
  const next = Number(await ask(server, "pid"));
  await server.dispose();
  expect(await cut).toBe("vscodelm was stopped.");
  expect([pid, next].map(isThere)).toEqual([false, false]);
});

test("a login or logout says whether it was done: not if it fails, and not if it is cancelled", async () => {
  const [server, seen] = serve();
  const source = new CancellationTokenSource();
  expect(await server.account({ modelId: "m" }, never)).toBe(true);
  await expect(server.account({ modelId: "m", methodId: "odd" }, never)).rejects.toThrow("no such");
  const hanging = server.account({ modelId: "m", methodId: "hangs" }, source.token);
  await vi.waitFor(
    () => expect(seen.notified).toEqual(["lm/didChangeLanguageModelChatInformation"]),
    SOON,
  );
  source.cancel();
  expect(await hanging).toBe(false);
  expect(await server.account({ modelId: "m" }, source.token)).toBe(false);
});

async function asked(seen: Seen) {
  await vi.waitFor(() => expect(seen.elicited).toHaveLength(1));
  return seen.elicited[0] as Seen["elicited"][number];
}

test("an agent's question reaches the window with its model, and the answer the program", async () => {
  const [server, seen] = serve();
  const answer = ask(server, "elicit");
  const question = await asked(seen);
  expect(question).toMatchObject({ modelId: "m", params: { message: "Which?" } });
  expect(question.signal.aborted).toBe(false);
  question.resolve({ action: "accept", content: { a: 1 } });
  expect(JSON.parse(await answer)).toMatchObject({
    id: "elicit-1",
    result: { action: "accept", content: { a: 1 } },
  });
});

test("a request of the program that nobody knows is answered with an error", async () => {
  const [server] = serve();
  expect(JSON.parse(await ask(server, "ask lm/unknown"))).toMatchObject({
    error: { code: -32601, message: "Method not found: lm/unknown" },
  });
});

test("the text of a file is returned, or why it can't be", async () => {
  const [server] = serve();
  expect(JSON.parse(await ask(server, "read /a.py"))).toMatchObject({
    result: { text: "a", isDirty: true },
  });
  expect(JSON.parse(await ask(server, "read /b"))).toMatchObject({
    error: { code: -32603, message: "It is a folder." },
  });
});

test("the files that have changed in a turn are returned", async () => {
  const [server] = serve();
  expect(JSON.parse(await ask(server, "changed"))).toMatchObject({
    result: { paths: ["/a.py"], more: 2 },
  });
});

test("a question of no open request is cancelled", async () => {
  const [server, seen] = serve();
  expect(JSON.parse(await ask(server, "ask lm/elicit"))).toMatchObject({
    result: { action: "cancel" },
  });
  expect(seen.complained).toEqual([expect.stringContaining("no open request")]);
  expect(seen.elicited).toEqual([]);
});

test("a question ends when its chat is stopped", async () => {
  const [server, seen] = serve();
  const source = new CancellationTokenSource();
  const answer = ask(server, "elicit", source.token);
  const { signal } = await asked(seen);
  source.cancel();
  expect(signal.aborted).toBe(true); // also where the program says nothing
  await answer;
});

test("a question ends with the answer that it belongs to", async () => {
  const [server, seen] = serve();
  await ask(server, "elicit and go on");
  expect((await asked(seen)).signal.aborted).toBe(true);
});

test("a question ends when the program cancels it", async () => {
  const [server, seen] = serve();
  const answer = ask(server, "elicit and cancel");
  expect(JSON.parse(await answer)).toMatchObject({ id: "elicit-1", error: { code: -32800 } });
  expect((await asked(seen)).signal.aborted).toBe(true);
});

test("a question ends with its program", async () => {
  const [server, seen] = serve();
  const answer = ask(server, "elicit and crash");
  await expect(answer).rejects.toThrow("it exited with status 7");
  expect((await asked(seen)).signal.aborted).toBe(true);
});

test("the sessions of an agent are listed, and a failure is told", async () => {
  const [server] = serve();
  expect(await server.sessions({ modelId: "m" }, never)).toEqual([{ sessionId: "s1", cwd: "/x" }]);
  await expect(server.sessions({ modelId: "none" }, never)).rejects.toThrow("no sessions");
  const source = new CancellationTokenSource();
  source.cancel();
  expect(await server.sessions({ modelId: "m" }, source.token)).toBe(undefined);
});

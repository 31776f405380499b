import { readFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { MAX_LINE_BYTES, MAX_OPEN_REQUESTS } from "../../src/limits.ts";
import { Connection, ConnectionClosed, RpcError } from "../../src/program/connection.ts";

function connect(maxLine?: number) {
  const [source, sink] = [new PassThrough(), new PassThrough()];
  const heard: string[] = [];
  const asked: { method: string; params: unknown; signal: AbortSignal }[] = [];
  const answers: ((result: unknown) => void)[] = [];
  const connection = new Connection(
    source,
    sink,
    {
      notified: (method) => {
        if (method === "throw") {
          throw new Error("the listener broke");
        }
        heard.push(method);
      },
      requested: async (method, params, signal) => {
        asked.push({ method, params, signal });
        if (method === "fails") {
          throw new RpcError(-32601, "Method not found: fails");
        }
        if (method === "breaks") {
          throw new TypeError("it broke");
        }
        if (method === "grows") {
          return "x".repeat(500);
        }
        return method === "waits" ? new Promise((resolve) => answers.push(resolve)) : params;
      },
      complained: (what) => heard.push(what),
      abandoned: (id) => heard.push(`abandoned ${id}`),
    },
    maxLine,
  );
  const ask = () => connection.request("lm/stats", {});
  const said = () =>
    String(sink.read() ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  return { source, sink, heard, connection, ask, asked, answers, said };
}

test("nothing is heard after the end, and what is asked then fails at once", async () => {
  const { source, sink, heard, connection, ask } = connect();
  const { result } = ask();
  connection.close("It is over.");
  await expect(result).rejects.toBeInstanceOf(ConnectionClosed);
  source.write('{"jsonrpc":"2.0","method":"lm/responsePart","params":{}}\n');
  await turn();
  expect(heard).toEqual([]);
  sink.read();
  await expect(ask().result).rejects.toThrow("It is over.");
  connection.notify("lm/cancel", {});
  expect(sink.read()).toBeNull();
});

test("the first reason for the end is the one that is told", async () => {
  const { connection, ask } = connect();
  connection.close("It crashed.");
  connection.close("It was stopped.");
  await expect(ask().result).rejects.toThrow("It crashed.");
});

test("a write to a process that is gone is told, and breaks nothing", async () => {
  const { source, sink, heard } = connect();
  sink.emit("error", new Error("EPIPE"));
  source.emit("error", new Error("EIO"));
  expect(heard).toEqual(["writing failed: EPIPE", "reading failed: EIO"]);
});

test.each([
  ["null", "it isn't a JSON object"],
  ["3", "it isn't a JSON object"],
  ['"text"', "it isn't a JSON object"],
  ["[]", "it isn't a JSON object"],
  ['{"method', "JSON"],
  ["\ufffd", "JSON"],
  ["{}", "no request waits"],
  ['{"id":"1","result":{}}', "no request waits"],
  ['{"id":99,"result":{}}', "no request waits"],
  ['{"id":null,"result":{}}', "no request waits"],
  ['{"method":3}', "no request waits"],
  ['{"method":"throw"}', "the listener broke"],
])("a line %s is told, and the rest of its chunk isn't lost", async (line, why) => {
  const { source, heard, ask } = connect();
  const { result } = ask();
  source.write(`${line}\n{"id":1,"result":"well"}\n`);
  expect(await result).toBe("well");
  expect(heard).toEqual([expect.stringContaining(why)]);
  expect(heard[0]).toMatch(/^a line can't be used: /);
});

test.each([
  ['{"code":-32000,"message":"No.","data":{"kind":"Blocked"}}', "No.", -32000, { kind: "Blocked" }],
  ['{"message":3}', 'an error without words: {"message":3}', 0, undefined],
  ['"broken"', 'an error without words: "broken"', 0, undefined],
  ["true", "an error without words: true", 0, undefined],
])("an error %s settles its request", async (error, message, code, data) => {
  const { source, ask } = connect();
  const { result } = ask();
  source.write(`{"id":1,"error":${error}}\n`);
  const caught = (await result.catch((rejected) => rejected)) as RpcError;
  expect(caught).toBeInstanceOf(RpcError);
  expect([caught.message, caught.code, caught.data]).toEqual([message, code, data]);
});

test("what the program couldn't read settles the one request that waits, and no other", async () => {
  const { source, heard, ask } = connect();
  const unread = '{"id":null,"error":{"code":-32700,"message":"Parse error"}}\n';
  const { result } = ask();
  source.write(unread);
  await expect(result).rejects.toThrow("Parse error");
  const [one, other] = [ask().result, ask().result];
  source.write(`${unread}{"id":2,"result":2}\n{"id":3,"result":3}\n`);
  expect(await Promise.all([one, other])).toEqual([2, 3]);
  expect(heard).toEqual([expect.stringContaining("no request waits")]);
});

test("a request that was given up has failed, and its answer is no news", async () => {
  const { source, heard, connection, ask } = connect();
  const { id, result } = ask();
  connection.abandon(id, new Error("It was given up."));
  connection.abandon(id, new Error("once more"));
  await expect(result).rejects.toThrow("It was given up.");
  expect(connection.open).toBe(0);
  source.write('{"id":1,"result":{}}\n{"id":1,"result":{}}\n');
  await turn();
  const unasked = expect.stringContaining("no request waits"); // the second answer alone
  expect(heard).toEqual(["abandoned 1", unasked]);
});

test("a line of the largest size is read, and a longer one costs its own request only", async () => {
  const answer = (id: number, size: number) => {
    const frame = JSON.stringify({ id, result: "" });
    return `${JSON.stringify({ id, result: "x".repeat(size - frame.length) })}\n`;
  };
  const { source, heard, connection, ask } = connect(1000);
  const [fits, over, next] = [ask().result, ask().result, ask().result];
  source.write(answer(1, 1000) + answer(2, 1001) + answer(3, 100));
  await expect(over).rejects.toThrow("The answer can't be read: a line is longer than 1000 bytes.");
  expect([await fits, await next]).toEqual([expect.any(String), expect.any(String)]);
  source.write(`{"method":"lm/${"x".repeat(1000)}"}\n`);
  await turn();
  const skipped = expect.stringContaining("a line is longer than 1000 bytes: {");
  expect(heard).toEqual([skipped, "abandoned 2", skipped]);
  expect(connection.open).toBe(0);
});

test("a part that is too long fails the request that it answers", async () => {
  const { source, ask } = connect(1000);
  const { result } = ask();
  const part = { type: "text", value: "x".repeat(1000) };
  source.write(
    `${JSON.stringify({ method: "lm/responsePart", params: { requestId: 1, part } })}\n`,
  );
  await expect(result).rejects.toThrow("longer than 1000 bytes");
});

test("a request of the largest size is sent, and a larger one fails and isn't", async () => {
  const { sink, connection } = connect(200);
  const frame = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "m", params: "" }).length;
  void connection.request("m", "x".repeat(200 - frame));
  expect(String(sink.read())).toHaveLength(201);
  const { result } = connection.request("m", "x".repeat(201 - frame));
  await expect(result).rejects.toThrow("The message is too large: 201 bytes of at most 200.");
  expect(sink.read()).toBeNull();
  expect(connection.open).toBe(1);
});

test("what is sent may be as long as what the program takes, and no longer", async () => {
  const source = await readFile(new URL("../../../bridge/jsonrpc.py", import.meta.url), "utf8");
  const [, factors = ""] = /^MAX_LINE = ([\d *]+)$/m.exec(source) ?? [];
  const bytes = factors.split("*").reduce((product, factor) => product * Number(factor), 1);
  expect(MAX_LINE_BYTES).toBe(bytes);
});

test("a request that can't be encoded fails, and doesn't wait for ever", async () => {
  const { connection } = connect();
  const params = {
    get broken(): never {
      throw new Error("it has no value");
    },
  };
  await expect(connection.request("m", params).result).rejects.toThrow("it has no value");
  expect(connection.open).toBe(0);
});

test("a request of the program is answered by its own id, whatever this side's ids are", async () => {
  const { source, said, ask, connection } = connect();
  const { id, result } = ask();
  said();
  source.write(`{"id":${id},"method":"echoes","params":{"a":1}}\n{"id":"x-1","method":"echoes"}\n`);
  await turn();
  expect(said()).toEqual([
    { jsonrpc: "2.0", id, result: { a: 1 } },
    { jsonrpc: "2.0", id: "x-1", result: null },
  ]);
  expect(connection.open).toBe(1);
  source.write(`{"id":${id},"result":"ours"}\n`);
  expect(await result).toBe("ours");
});

test.each([
  ["fails", { code: -32601, message: "Method not found: fails" }],
  ["breaks", { code: -32603, message: "it broke" }],
])("a request that %s is answered with an error", async (method, error) => {
  const { source, said } = connect();
  source.write(`{"id":1,"method":"${method}"}\n`);
  await turn();
  expect(said()).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
});

test("a cancelled request is answered once, and hears of it", async () => {
  const { source, said, asked, answers, heard } = connect();
  source.write('{"id":"a","method":"waits"}\n{"method":"$/cancelRequest","params":{"id":"a"}}\n');
  await turn();
  expect(asked[0]?.signal.aborted).toBe(true);
  const error = { code: -32800, message: "The request was cancelled." };
  expect(said()).toEqual([{ jsonrpc: "2.0", id: "a", error }]);
  answers[0]?.("late");
  source.write('{"method":"$/cancelRequest","params":{"id":"a"}}\n');
  await turn();
  expect(said()).toEqual([]);
  expect(heard).toEqual([]);
});

test("the end cancels the program's requests, and none of them is answered", async () => {
  const { source, said, asked, answers, connection } = connect();
  source.write('{"id":"a","method":"waits"}\n');
  await turn();
  connection.close("It is over.");
  answers[0]?.("late");
  await turn();
  expect(asked[0]?.signal.aborted).toBe(true);
  expect(said()).toEqual([]);
});

test.each([
  ['{"id":"a","method":"waits"}', 'the request "a" is open already'],
  ['{"id":null,"method":"waits"}', "its id is neither a number nor a string"],
  ['{"method":"$/cancelRequest"}', "its id is neither a number nor a string"],
])("%s is told, and asks nobody", async (line, why) => {
  const { source, asked, heard } = connect();
  source.write(`{"id":"a","method":"waits"}\n${line}\n`);
  await turn();
  expect(asked).toHaveLength(1);
  expect(heard).toEqual([expect.stringContaining(why)]);
});

test("so many requests of the program may be open, and one more fails", async () => {
  const { source, said, asked, answers } = connect();
  const write = (id: number) => source.write(`{"id":${id},"method":"waits"}\n`);
  Array.from({ length: MAX_OPEN_REQUESTS }, (_, id) => write(id));
  write(1000);
  await turn();
  expect(asked).toHaveLength(MAX_OPEN_REQUESTS);
  expect(said()).toMatchObject([{ id: 1000, error: { code: -32000 } }]);
  answers[0]?.("answered");
  await turn();
  write(1001);
  await turn();
  expect(asked).toHaveLength(MAX_OPEN_REQUESTS + 1);
});

test("an answer that is too large becomes an error", async () => {
  const { source, said } = connect(200);
  source.write(`{"id":1,"method":"grows"}\n`);
  await turn();
  expect(said()).toMatchObject([
    { id: 1, error: { message: expect.stringContaining("too large") } },
  ]);
});

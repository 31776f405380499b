import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Connection, ConnectionClosed } from "../src/connection.ts";

function connect() {
  const [source, sink] = [new PassThrough(), new PassThrough()];
  const heard: string[] = [];
  const connection = new Connection(source, sink, {
    notified: (method) => heard.push(method),
    complained: (what) => heard.push(what),
  });
  return { source, sink, heard, connection };
}

test("nothing is heard after the end, and what is asked then fails at once", async () => {
  const { source, sink, heard, connection } = connect();
  const { result } = connection.request("lm/stats", {});
  connection.close("It is over.");
  await expect(result).rejects.toBeInstanceOf(ConnectionClosed);
  source.write('{"jsonrpc":"2.0","method":"lm/responsePart","params":{}}\n');
  await turn();
  expect(heard).toEqual([]);
  sink.read();
  await expect(connection.request("lm/stats", {}).result).rejects.toThrow("It is over.");
  connection.notify("lm/cancel", {});
  expect(sink.read()).toBeNull();
});

test("the first reason for the end is the one that is told", async () => {
  const { connection } = connect();
  connection.close("It crashed.");
  connection.close("It was stopped.");
  await expect(connection.request("lm/stats", {}).result).rejects.toThrow("It crashed.");
});

test("a write to a process that is gone is told, and breaks nothing", async () => {
  const { sink, heard } = connect();
  sink.emit("error", new Error("EPIPE"));
  expect(heard).toEqual(["writing failed: EPIPE"]);
});

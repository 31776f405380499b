// A fake `vscodelm`: it speaks the wire, and does what the newest message's text says.

import { createInterface } from "node:readline";

const asked = process.argv[2] ?? "";
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const part = (requestId, part) => say({ method: "lm/responsePart", params: { requestId, part } });
const complete = (id) => {
  say({ method: "lm/responseComplete", params: { requestId: id } });
  say({ id, result: {} });
};
const model = (id) => ({
  id,
  name: id,
  family: id,
  version: "1",
  maxInputTokens: 1,
  maxOutputTokens: 1,
  capabilities: {},
});
const hanging = new Set();
/** The request whose agent has a question. */
let asks;
let folders = [];
let servers = [];

if (asked === "dies") {
  process.stderr.write("time=00:00:00 level=ERROR no config here\n");
  process.exit(3);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  switch (method) {
    case undefined: // the answer to a question
      part(asks, { type: "text", value: line });
      complete(asks);
      break;
    case "lm/didChangeWorkspaceFolders":
      folders = params.workspaceFolders;
      break;
    case "lm/didChangeMcpServers":
      servers = params.mcpServers;
      break;
    case "lm/initialize":
      folders = params.workspaceFolders;
      servers = params.mcpServers ?? [];
      if (asked === "stranger") {
        say({ id, error: { code: -32601, message: "Method not found" } });
      } else if (asked !== "silent") {
        const version = asked.startsWith("version=") ? asked.slice(8) : "1";
        say({ id, result: { serverInfo: { name: "fake", version, heard: params } } });
      }
      break;
    case "lm/inspect":
      say({
        id,
        result: {
          events: [
            {
              ...{ event: "request", request: 1, conversation: 1, model: "eliza", at: 0 },
              ...{
                requestClass: "main",
                reason: "new",
                ending: "complete",
                asked: "a secret plan",
              },
              facts: [{ name: "why", text: "new: it matches no live conversation" }],
            },
          ],
          ...(params.page && { page: "<p>the page</p>" }),
        },
      });
      break;
    case "lm/stats":
      say({
        id,
        result: {
          ...{ requestsByClass: { main: 2, utility: 1 }, requestsByHarness: { local: 2 } },
          matchesByRule: { prefix: 1 },
          ...{ missesByReason: {}, liveConversations: 1, sessions: 3, processes: 2 },
        },
      });
      break;
    case "lm/provideLanguageModelChatInformation":
      say({
        id,
        result: { models: [model("own"), ...Object.entries(params.agents ?? {}).map(chosen)] },
      });
      break;
    case "lm/agentSessions":
      if (params.modelId === "none") {
        say({ id, error: { code: -32000, message: "no sessions", data: { kind: "NotFound" } } });
        break;
      }
      say({ id, result: { sessions: [{ sessionId: "s1", cwd: "/x" }] } });
      break;
    case "lm/logOut":
      say({ id, result: {} });
      break;
    case "lm/logIn":
      if (params.methodId === "hangs") {
        say({ method: "lm/didChangeLanguageModelChatInformation" }); // so that a test knows that it was heard
      } else {
        say({ id, error: { code: -32000, message: "no such way" } });
      }
      break;
    case "lm/cancel":
      hanging.delete(params.requestId);
      complete(params.requestId);
      break;
    case "lm/provideLanguageModelChatResponse": {
      const last = params.messages.at(-1).content.at(-1);
      chat(id, last.type === "tool_result" ? last.result : last.value, params);
      break;
    }
  }
});
process.on("SIGUSR2", () => {
  for (const id of hanging) {
    part(id, { type: "text", value: ` done by ${process.pid}` });
    complete(id);
  }
  hanging.clear();
});
process.stdin.on("end", () => {
  if (asked !== "lingers") {
    process.exit(0);
  }
});
if (asked === "lingers") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}

function chat(id, text, params) {
  switch (text) {
    case "echo":
      part(id, { type: "text", value: JSON.stringify(params) });
      complete(id);
      break;
    case "servers":
      part(id, { type: "text", value: servers.map(({ name, command }) => name + command).join() });
      complete(id);
      break;
    case "folders":
      part(id, { type: "text", value: folders.join(" ") });
      complete(id);
      break;
    case "pid":
      part(id, { type: "text", value: String(process.pid) });
      complete(id);
      break;
    case "cwd":
      part(id, { type: "text", value: `${process.cwd()} ${process.env.SECRET}` });
      complete(id);
      break;
    case "hang":
      hanging.add(id);
      part(id, { type: "text", value: "well" });
      break;
    case "elicit":
    case "elicit and go on":
    case "elicit and cancel":
    case "elicit and crash":
      asks = id;
      say({
        ...{ id: "elicit-1", method: "lm/elicit" },
        params: { requestId: id, message: "Which?", requestedSchema: {} },
      });
      if (text === "elicit and go on") {
        complete(id);
      } else if (text === "elicit and cancel") {
        say({ method: "$/cancelRequest", params: { id: "elicit-1" } });
      } else if (text === "elicit and crash") {
        process.exitCode = 7;
        setImmediate(() => process.exit());
      }
      break;
    case "read /a.py":
    case "read /b":
      asks = id;
      say({ id: 1, method: "lm/readTextFile", params: { path: text.slice(5) } });
      break;
    case "changed":
      asks = id;
      say({ id: 1, method: "lm/changedFiles", params: { watch: 1 } });
      break;
    case "ask lm/unknown":
    case "ask lm/elicit":
      asks = id;
      say({ id: 1, method: text.slice(4), params: { requestId: 99 } });
      break;
    case "call":
      part(id, { type: "tool_call", toolCallId: "call-1", toolName: "t", parameters: {} });
      complete(id);
      break;
    case "crash":
      part(id, { type: "text", value: "oh" });
      process.stderr.write("boom\n", () => process.exit(7));
      break;
    case "blocked":
      say({
        id,
        error: { code: -32000, message: "Too much.", data: { kind: "Blocked", detail: "429" } },
      });
      break;
    case "told": {
      const message = "Log in first.";
      const fixes = [{ type: "login", title: "Log in", methodId: "oauth" }];
      const failure = { message, kind: "NoPermissions", detail: "401", fixes };
      part(id, { type: "text", value: message });
      say({ method: "lm/responseComplete", params: { requestId: id, failure } });
      say({ id, result: {} });
      break;
    }
    case "null":
      part(id, { type: "text", value: "before" });
      process.stdout.write("null\n3\n");
      part(id, { type: "text", value: "after" });
      complete(id);
      break;
    case "holes":
      part(id, { type: "text", value: "before" });
      part(id, null);
      part(id, { type: "text", value: "after" });
      hanging.add(id);
      break;
    case "hanging":
      part(id, { type: "text", value: String(hanging.size) });
      complete(id);
      break;
    case "long log":
      process.stderr.write(`${"x".repeat(65_536)}\n${"y".repeat(65_537)}\nshort\n`, () =>
        complete(id),
      );
      break;
    case "noise":
      process.stdout.write("not JSON\n\n");
      say({ id: 999, result: {} });
      say({ method: "lm/didChangeLanguageModelChatInformation", params: {} });
      complete(id);
      break;
    default:
      for (const word of text.split(" ")) {
        part(id, { type: "text", value: word });
      }
      complete(id);
  }
}

/** A model of the client's own, whose one choice is the name of its kind of agent. */
function chosen([id, agent]) {
  const kind = { type: "string", title: "Kind", enum: Object.keys(agent) };
  const name = "eliza" in agent ? "Eliza" : id;
  return { ...model(id), name, configurationSchema: { type: "object", properties: { kind } } };
}

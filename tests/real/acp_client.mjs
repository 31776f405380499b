// An ACP client on the official TypeScript SDK: it says what it is told to an agent, in one session,
// and prints what it got as JSON, a line each. What to do comes as JSON in the only argument:
//
//     {sdk: folder, command, args, env, cwd, servers, prompts: [{prompt: blocks, stopAt, patience}]}
//
// The first line has what the agent can do. Each further one has the answer to a prompt: its text,
// why it stopped, how many questions were asked meanwhile, of which each is denied, and what the
// newest question and everything before it said of tool calls. A prompt is cancelled after `stopAt`
// milliseconds, if that is said. An answer that isn't there after `patience` milliseconds is null,
// and so is each one after it.

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const task = JSON.parse(process.argv[2]);
const acp = await import(pathToFileURL(join(task.sdk, "dist", "acp.js")).href);
const child = spawn(task.command, task.args, {
  cwd: task.cwd,
  env: task.env,
  detached: true, // so that all of its group can be ended
  stdio: ["pipe", "pipe", "inherit"],
});
const answer = { text: "", asked: 0, calls: [], about: [] };
let connection;

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const client = {
  async requestPermission({ toolCall, options }) {
    answer.asked += 1;
    answer.calls.push(toolCall);
    answer.about = [...answer.calls];
    const denial = options.find(({ kind }) => kind === "reject_once");
    if (!denial) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: denial.optionId } };
  },
  async sessionUpdate({ update }) {
    if (update.sessionUpdate.startsWith("tool_call")) answer.calls.push(update);
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    answer.text += update.content.text;
  },
};

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
connection = new acp.ClientSideConnection(() => client, stream);
const { agentCapabilities } = await connection.initialize({
  protocolVersion: acp.PROTOCOL_VERSION,
  clientCapabilities: {},
});
print(agentCapabilities);
const { sessionId } = await connection.newSession({ cwd: task.cwd, mcpServers: task.servers });
let isStuck = false;
for (const { prompt, stopAt, patience } of task.prompts) {
  Object.assign(answer, { text: "", asked: 0, calls: [], about: [] });
  if (stopAt) setTimeout(() => connection.cancel({ sessionId }), stopAt);
  const answered = isStuck ? null : connection.prompt({ sessionId, prompt });
  const { stopReason = null } = (await Promise.race([answered, pause(patience)])) ?? {};
  isStuck ||= stopReason === null;
  print(isStuck ? null : { ...answer, stopReason });
}
process.kill(-child.pid, "SIGKILL");
process.exit(0);

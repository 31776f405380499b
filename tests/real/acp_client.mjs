// An ACP client on the official TypeScript SDK: it says what it is told to an agent, in one session,
// and prints what it got as JSON, a line each. What to do comes as JSON in the only argument:
//
//     {sdk: folder, command, args, env, cwd, prompts: [{prompt: blocks, stopAt: text}]}
//
// The first line has what the agent can do. Each further one has the answer to a prompt: its text,
// why it stopped, and how many questions were asked meanwhile, of which each is denied. A prompt is
// cancelled when its answer holds `stopAt`.

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const task = JSON.parse(process.argv[2]);
const acp = await import(pathToFileURL(join(task.sdk, "dist", "acp.js")).href);
const child = spawn(task.command, task.args, {
  cwd: task.cwd,
  env: task.env,
  detached: true, // so that all of its group can be ended
  stdio: ["pipe", "pipe", "inherit"],
});
const answer = { text: "", stopAt: null, asked: 0, session: "" };
let connection;

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const client = {
  async requestPermission({ options }) {
    answer.asked += 1;
    const denial = options.find(({ kind }) => kind === "reject_once");
    if (!denial) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: denial.optionId } };
  },
  async sessionUpdate({ update }) {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    answer.text += update.content.text;
    if (answer.stopAt && answer.text.includes(answer.stopAt)) {
      answer.stopAt = null;
      await connection.cancel({ sessionId: answer.session });
    }
  },
};

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
connection = new acp.ClientSideConnection(() => client, stream);
const { agentCapabilities } = await connection.initialize({
  protocolVersion: acp.PROTOCOL_VERSION,
  clientCapabilities: {},
});
print(agentCapabilities);
const { sessionId } = await connection.newSession({ cwd: task.cwd, mcpServers: [] });
answer.session = sessionId;
for (const { prompt, stopAt } of task.prompts) {
  Object.assign(answer, { text: "", stopAt, asked: 0 });
  const { stopReason } = await connection.prompt({ sessionId, prompt });
  print({ text: answer.text, stopReason, asked: answer.asked });
}
process.kill(-child.pid, "SIGKILL");
process.exit(0);

// An MCP client on the official TypeScript SDK: it lists the tools of a server and calls them, and
// prints what it got as JSON, a line each. What to do comes as JSON in the only argument:
//
//     {sdk: folder, stdio: {command, args, env} | http: {url, headers}, calls: [{name, arguments}],
//      patience: milliseconds}
//
// All calls are made at once. Each is given up when nothing was heard of it for as long as `patience`.
// When it hears that the tools have changed it lists them once more, and leaves.

import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const task = JSON.parse(process.argv[2]);

function from(module) {
  return import(pathToFileURL(join(task.sdk, "dist", "esm", `${module}.js`)).href);
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function transport() {
  if (task.stdio) {
    const { StdioClientTransport } = await from("client/stdio");
    return new StdioClientTransport(task.stdio);
  }
  const { StreamableHTTPClientTransport } = await from("client/streamableHttp");
  return new StreamableHTTPClientTransport(new URL(task.http.url), {
    requestInit: { headers: task.http.headers },
  });
}

const { Client } = await from("client/index");
const { ToolListChangedNotificationSchema } = await from("types");
const client = new Client({ name: "typescript", version: "1" });
const changed = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
});
await client.connect(await transport());
print({ server: client.getServerVersion(), tools: (await client.listTools()).tools });

let progress = 0;
const options = {
  timeout: task.patience,
  resetTimeoutOnProgress: true,
  onprogress: () => {
    progress += 1;
  },
};
const results = await Promise.all(
  task.calls.map((call) =>
    client.callTool(call, undefined, options).catch((error) => ({ error: error.message })),
  ),
);
print({ results, progress });

await changed;
print({ tools: (await client.listTools()).tools });
await client.close();

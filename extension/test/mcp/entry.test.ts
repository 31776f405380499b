import { execFileSync } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/mcp/config.ts";
import { resolveEntry } from "../../src/mcp/entry.ts";

const INPUTS = [
  { id: "key", type: "promptString", password: true },
  { id: "size", type: "pickString", options: ["big"] },
  { id: "run", type: "command", command: "x" },
];
const { inputs } = readConfig(JSON.stringify({ inputs: INPUTS }));

function resolved(
  entry: unknown,
  answers: Record<string, string> = {},
  folder?: string,
  platform: NodeJS.Platform = "linux",
  PATH = process.env.PATH,
) {
  return resolveEntry("s", entry, {
    folder,
    userHome: "/home/me",
    platform,
    env: { PATH, TOKEN: "t0ken" },
    inputs,
    answers: new Map(Object.entries(answers)),
  });
}

test("a program gets its variables, and what the user typed is named as secret", async () => {
  const entry = {
    command: "/bin/s",
    args: ["${workspaceFolder}/a", "--key=${input:key}", "${input:size}", ""],
    env: { HOME: "${userHome}", T: "${env:TOKEN}", N: 5 },
    cwd: "${workspaceFolder}",
    dev: {},
  };
  expect(await resolved(entry, { key: "hunter2", size: "big" }, "/w")).toEqual({
    server: {
      name: "s",
      command: "/bin/s",
      args: ["/w/a", "--key=hunter2", "big", ""],
      env: [
        { name: "HOME", value: "/home/me" },
        { name: "T", value: "t0ken" },
        { name: "N", value: "5" },
      ],
      secrets: ["hunter2"],
    },
    missing: [],
  });
  expect(await resolved(entry, { size: "big" }, "/w")).toEqual({ missing: ["key"] });
});

test("a server at an address gets its headers, and an answer is not filled in again", async () => {
  const entry = { url: "https://s/mcp", headers: { Authorization: "Bearer ${input:key}" } };
  expect(await resolved(entry, { key: "${env:TOKEN}" })).toEqual({
    server: {
      name: "s",
      type: "http",
      url: "https://s/mcp",
      headers: [{ name: "Authorization", value: "Bearer ${env:TOKEN}" }],
      secrets: ["${env:TOKEN}"],
    },
    missing: [],
  });
});

test("a program is found where it is, and its variables in a file, over which its own win", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vscodelm-mcp-"));
  await writeFile(join(folder, ".env"), 'A=1\nB="two words"\n');
  const entry = {
    type: "stdio",
    command: "./s",
    envFile: "${workspaceFolder}/.env",
    env: { A: "2" },
  };
  expect(await resolved(entry, {}, folder)).toEqual({
    server: {
      name: "s",
      command: join(folder, "s"),
      args: [],
      env: [
        { name: "A", value: "2" },
        { name: "B", value: "two words" },
      ],
    },
    missing: [],
    envFile: { path: join(folder, ".env"), variables: { A: "1", B: "two words" } },
  });
  await writeFile(join(folder, ".env"), `A=${"1".repeat(2 ** 20)}`);
  expect(await resolved(entry, {}, folder)).toMatchObject({
    reason: expect.stringContaining("too large"),
  });
  const found = await resolved({ command: "sh" });
  expect(found).toMatchObject({ server: { command: expect.stringMatching(/^\/.*\/sh$/) } });
  expect(await resolved({ command: "no-such" })).toMatchObject({ server: { command: "no-such" } });
});

test("null unsets a variable, whatever the agent or the file of variables sets", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vscodelm-mcp-"));
  await writeFile(join(folder, ".env"), "GONE=1\nKEPT=2\n");
  const entry = {
    command: "/bin/s",
    args: ["a"],
    envFile: "${workspaceFolder}/.env",
    env: { GONE: null, ALSO: null },
  };
  expect(await resolved(entry, {}, folder)).toMatchObject({
    server: {
      command: "/usr/bin/env",
      args: ["-u", "GONE", "-u", "ALSO", "/bin/s", "a"],
      env: [{ name: "KEPT", value: "2" }],
    },
  });
  expect(await resolved(entry, {}, folder, "win32")).toMatchObject({
    server: {
      command: "/bin/s",
      args: ["a"],
      env: [
        { name: "KEPT", value: "2" },
        { name: "GONE", value: "" },
        { name: "ALSO", value: "" },
      ],
    },
  });
});

test.skipIf(process.platform === "win32")("an unset variable isn't inherited", async () => {
  const entry = { command: "sh", args: ["-c", "echo $GONE-$KEPT"], env: { GONE: null } };
  const found = await resolved(entry);
  const { command, args } = (found as { server: { command: string; args: string[] } }).server;
  const env = { PATH: process.env.PATH, GONE: "here", KEPT: "too" };
  expect(execFileSync(command, args, { env, encoding: "utf8" })).toBe("-too\n");
});

test.skipIf(process.platform === "win32")("scripts count as programs on Windows", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vscodelm-mcp-"));
  for (const name of ["npx", "npx.cmd", "uvx.exe", "uvx.cmd"]) {
    await writeFile(join(folder, name), "", { mode: 0o755 });
  }
  const command = async (written: string) =>
    ((await resolved({ command: written }, {}, folder, "win32", folder)) as { server: object })
      .server;
  expect(await command("npx")).toMatchObject({ command: join(folder, "npx.cmd") });
  expect(await command("npx.CMD")).toMatchObject({ command: "npx.CMD" });
  expect(await command("npx.cmd")).toMatchObject({ command: join(folder, "npx.cmd") });
  expect(await command("uvx")).toMatchObject({ command: join(folder, "uvx.exe") });
  expect(await command("./npx")).toMatchObject({ command: join(folder, "npx.cmd") });
  expect(await command(join(folder, "npx"))).toMatchObject({ command: join(folder, "npx.cmd") });
  expect(await command("./none")).toMatchObject({ command: join(folder, "none") });
});

test.each([
  [{ url: "https://s", oauth: { clientId: "x" } }, "OAuth"],
  [{ type: "ws", url: "https://s" }, "its type isn't one of stdio, http, sse"],
  [{ type: "sse", url: "file:///s" }, "must begin with http:// or https://"],
  [{ url: 5 }, "its `url` must be text"],
  [{}, "its `url` must be text"],
  [{ type: "stdio" }, "its `command` must be text"],
  [{ command: "s", args: "x" }, "its `args` must be a list of strings"],
  [{ command: "s", args: [{}] }, "its `args` must be text"],
  [{ command: "s", env: [] }, "its `env` must be an object of strings"],
  [{ command: "s", env: { A: {} } }, "its `env` must be text"],
  [{ command: "s", args: [null] }, "its `args` must be text"],
  [{ url: "https://s", headers: { A: null } }, "its `headers` must be text"],
  [{ command: "a=b", env: { A: null } }, "unsets variables"],
  [{ command: "s", env: { "A=B": null } }, "unsets variables"],
  [{ command: "s", cwd: "/other" }, "it sets `cwd`"],
  [{ command: "s", sandboxEnabled: true }, "sandbox"],
  [{ command: "s", envFile: "/no/such" }, "its `envFile` can't be read (ENOENT)"],
  [{ command: "s", envFile: "/" }, "its `envFile` can't be read (no file)"],
  [{ command: "s", envFile: ".env" }, "its `envFile` must be an absolute path"],
  [{ command: "s", envFile: "/${input:key}" }, "its `envFile` depends on an input"],
  [{ command: "./s" }, "relative path, and no folder is open"],
  [{ command: "${workspaceFolder}/s" }, "${workspaceFolder} has no value here"],
  [{ command: "${env:NO_SUCH}" }, "${env:NO_SUCH} has no value here"],
  [{ command: "${config:x.y}" }, "${config:x.y} has no value here"],
  [{ command: "${toString}" }, "${toString} has no value here"],
  [{ command: "${input:none}" }, 'its input "none" isn\'t described'],
  [{ command: "${input:run}" }, 'its input "run" comes from a command of VS Code'],
  [5, "it must be an object"],
])("what can't be handed over says why: %j", async (entry, words) => {
  const found = await resolved(entry);
  expect(found).toMatchObject({ reason: expect.stringContaining(words) });
});

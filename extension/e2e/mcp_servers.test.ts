// The user's own MCP servers: agents get those that the user chose, and the folder's only after consent.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { type } from "./boxes.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { Log } from "./log.ts";
import { OUTPUT } from "./places.ts";
import { shoot } from "./screenshots.ts";

const NAME = "mcp-servers";
const SECRET = "s3cret-of-the-issues";
const agents = join(OUTPUT, `${NAME}-agents`);
const agent = new ScriptedAgent(agents, "agent");
const log = new Log(NAME);
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

/** With a comment and a comma at the end, as VS Code takes it. */
const OWN = `{
  // of the user's own
  "servers": {
    "issues": {
      "command": "node",
      "args": ["\${userHome}/issues.mjs"],
      "env": { "ISSUES_TOKEN": "\${input:token}" },
    },
    "far": { "type": "http", "url": "https://far.example/mcp", "oauth": { "clientId": "x" } },
  },
  "inputs": [
    { "id": "token", "type": "promptString", "description": "The key of the issues", "password": true },
  ],
}`;
const BUILD = { command: "node", args: ["build.mjs"], envFile: "${workspaceFolder}/build.env" };

beforeAll(async () => {
  await rm(agents, { recursive: true, force: true });
  await mkdir(agents, { recursive: true });
  editor = await Editor.start({
    name: NAME,
    env: log.env,
    prepare: async (extensions) => {
      await log.prepare(extensions);
      await writeFile(join(dirname(extensions), "user/User/mcp.json"), OWN);
    },
    files: {
      ".vscode/mcp.json": JSON.stringify({ servers: { build: BUILD } }),
      "build.env": "MODE=fast\n",
    },
    settings: {
      "vscodelm.agents": { scripted: await agent.model({}) },
      "chat.mcp.autostart": "never", // the editor's own use of the servers
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
  await chat.choose("Scripted agent");
});

afterEach(({ task }) => shoot(page, NAME, task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("without a choice an agent gets only the editor's tools", async () => {
  await chat.ask("hello");
  expect(await given()).toEqual([]);
});

test("what the user ticks is given to new chats, with what is asked once", async () => {
  await choose("issues", "choices");
  expect(await type(page, `MCP server "issues": The key of the issues`, SECRET)).toBe(SECRET);
  await chat.newChat();
  await chat.ask("hello again");
  expect(await given()).toEqual([
    {
      name: "issues",
      command: expect.stringMatching(/^\/.*node$/),
      args: [join(editor.folder, "home/issues.mjs")],
      env: [{ name: "ISSUES_TOKEN", value: SECRET }],
    },
  ]);
});

test("a folder's server asks for consent, which shows what it runs", async () => {
  await choose("build");
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText(`Give agents the MCP server "build" of this folder?`).waitFor();
  expect(await dialog.textContent()).toContain("build.mjs");
  expect(await dialog.textContent()).toContain('MODE="fast"');
  await shoot(page, NAME, "consent");
  await dialog.locator(".monaco-button", { hasText: /^Allow$/ }).click();
  await chat.newChat();
  await chat.ask("and now");
  const servers = await given();
  expect(servers.map(({ name }) => name)).toEqual(["issues", "build"]);
  expect(servers[1]).toMatchObject({ env: [{ name: "MODE", value: "fast" }] });
});

test("when its file of variables changes it is given to nobody, and the user is asked", async () => {
  await writeFile(join(editor.workspace, "build.env"), "NODE_OPTIONS=--require=./evil.cjs\n");
  await told('MCP servers of the folder have changed: "build"', "changed");
  await chat.newChat();
  await chat.ask("still there");
  expect((await given()).map(({ name }) => name)).toEqual(["issues"]);
});

test("the doctor names the servers, with their status and nothing else", async () => {
  await chat.command("vscodelm: Run Doctor on an Agent...");
  const list = page.locator(".quick-input-list .monaco-list-row");
  await list
    .filter({ hasText: /^scripted/ })
    .first()
    .click();
  const lines = page.locator(".part.editor .view-lines");
  const told = async () => ((await lines.first().textContent()) ?? "").replaceAll("\u00a0", " ");
  await expect.poll(told, { timeout: 60_000 }).toContain("scripted can be used.");
  await lines.first().click();
  await page.keyboard.press("Control+End");
  await expect.poll(told).toContain("build: waits for your consent");
  await shoot(page, NAME, "doctor");
  const text = await told();
  expect(text).toContain("issues: handed over to agents");
  expect(text).toContain("far: can't be given to agents: it needs a login by OAuth");
  expect(text).not.toContain("issues.mjs");
  await chat.command("View: Close All Editors");
});

test("no log and no trace has the secret", async () => {
  const traces = join(editor.folder, "traces");
  for (const file of (await readdir(traces)).map((name) => join(traces, name))) {
    const text = await readFile(file, "utf8");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("issues.mjs");
  }
  expect(await log.text()).toContain("agents are given these MCP servers from now on: 'issues'");
  expect(await log.text()).not.toContain(SECRET);
});

/** Open the list, and tick a server more; `picture` names a picture of the list. */
async function choose(name: string, picture?: string): Promise<void> {
  await chat.command("vscodelm: Choose MCP Servers for Agents");
  const rows = page.locator(".quick-input-list .monaco-list-row");
  const row = rows.filter({ hasText: name }).first();
  await row.waitFor();
  await row.click();
  if (picture !== undefined) {
    await shoot(page, NAME, picture);
    const far = rows.filter({ hasText: "far" }).first();
    expect(await far.textContent()).toContain(
      "Can't be given to agents: it needs a login by OAuth",
    );
  }
  await page.locator(".quick-input-widget:visible .monaco-button", { hasText: "OK" }).click();
}

/** Wait for a message, and close it: it lies over the chat. `picture` names a picture of it. */
async function told(text: string, picture?: string): Promise<void> {
  await page.locator(".notification-toast", { hasText: text }).first().waitFor();
  if (picture !== undefined) {
    await shoot(page, NAME, picture);
  }
  await chat.command("Notifications: Clear All Notifications");
}

interface Server {
  name: string;
}

/** Return the servers of the session that was prompted last, without the editor's. */
async function given(): Promise<Server[]> {
  const heard = await agent.heard();
  const opened = heard.filter(({ method }) => method === "session/new").at(-1);
  const params = opened?.params as { mcpServers?: Server[] } | undefined;
  return (params?.mcpServers ?? []).filter(({ name }) => !/^vsc[0-9a-f]{6}$/.test(name));
}

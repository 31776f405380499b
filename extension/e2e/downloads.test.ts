// What npx starts is fetched first: a notification says how far it is, and cancels it.

import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { FAKE_AGENT, FAKE_NPX, OUTPUT, PYTHON } from "./places.ts";
import { shoot } from "./screenshots.ts";

const NAME = "downloads";
const folder = join(OUTPUT, "downloads-npx");
let editor: Editor;
let context: BrowserContext;
let page: Page;
let chat: Chat;

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "bin"), { recursive: true });
  const script = join(folder, "script.json");
  await writeFile(script, JSON.stringify({ otherwise: [{ say: "Here I am." }] }));
  const npx = join(folder, "bin/npx");
  const stand = [PYTHON, FAKE_NPX, folder, PYTHON, FAKE_AGENT, script];
  const line = stand.map((word) => `'${word}'`).join(" ");
  await writeFile(npx, `#!/bin/sh\nexec ${line} -- "$@"\n`);
  await chmod(npx, 0o755);
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    npm_config_cache: join(folder, "cache"),
  };
  const starting = (name: string) => ({
    name: `Scripted ${name}`,
    agent: { acp: { command: "npx", args: ["-y", `${name}-agent@1.0.0`], env } },
  });
  editor = await Editor.start({
    name: NAME,
    settings: {
      "vscodelm.agents": {
        slow: starting("slow"),
        endless: starting("endless"),
        away: starting("away"),
      },
    },
  });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
  chat = new Chat(page);
  await chat.opened();
});

afterEach(({ task }) => shoot(page, NAME, task.name));

afterAll(async () => {
  await context?.close();
  await editor?.stop();
});

test("a fetch is shown, and then the agent answers", async () => {
  await chat.choose("Scripted slow");
  await chat.send("hello");
  const progress = notification("Fetching slow-agent 1.0.0");
  await progress.filter({ hasText: /\d+ MB, \d+ s/ }).waitFor();
  expect(await progress.locator(".monaco-button").allTextContents()).toEqual(["Cancel"]);
  await shoot(page, NAME, "progress");
  expect(await chat.finished()).toBe("Here I am.");
  await progress.waitFor({ state: "detached" });
  await chat.newChat();
  expect(await chat.ask("hello again")).toBe("Here I am."); // there is nothing more to fetch
  expect(await progress.count()).toBe(0);
});

test("the notification's button cancels the fetch, and the request that waits for it", async () => {
  await chat.newChat();
  await chat.choose("Scripted endless");
  await chat.send("hello");
  const progress = notification("Fetching endless-agent 1.0.0");
  await progress.filter({ hasText: /\d+ s/ }).waitFor();
  const fetching = await fetchers();
  expect(await living(fetching)).toEqual(fetching);
  await progress.locator(".monaco-button", { hasText: "Cancel" }).click();
  expect(await chat.finished()).toContain(
    "Fetching endless-agent 1.0.0 was cancelled. Send the message again to continue it.",
  );
  await progress.waitFor({ state: "detached" });
  await expect.poll(() => living(fetching), { timeout: 15_000 }).toEqual([]);
});

test("where the network is gone, the chat says so", async () => {
  await chat.newChat();
  await chat.choose("Scripted away");
  expect(await chat.ask("hello")).toContain(
    "away-agent 1.0.0 can't be fetched: the registry can't be reached. " +
      "Check the network and the proxy, and send the message again.",
  );
  await expect.poll(async () => living(await fetchers())).toEqual([]);
});

function notification(title: string) {
  return page.locator(".notification-toast", { hasText: title });
}

/** Return the processes of the newest fetch. */
async function fetchers(): Promise<number[]> {
  const text = await readFile(join(folder, "fetching"), "utf8");
  return text.trim().split("\n").map(Number);
}

/** Return those of some processes that run. */
async function living(processes: number[]): Promise<number[]> {
  const running = [];
  for (const id of processes) {
    const status = `/proc/${id}/status`;
    const isThere = existsSync(status);
    if (isThere && !/^State:\s+Z/m.test(await readFile(status, "utf8"))) {
      running.push(id);
    }
  }
  return running;
}

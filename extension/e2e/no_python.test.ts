// A person on a machine without Python installs vscodelm. The packages and uv come from the package index,
// as for everybody, and the Python from a server of the test's own.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { FileServer } from "./file_server.ts";
import { OUTPUT } from "./places.ts";
import { shoot } from "./screenshots.ts";

const NAME = "no-python";

let server: FileServer;
let editor: Editor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  server = await FileServer.start();
  const empty = join(OUTPUT, "empty");
  await mkdir(empty, { recursive: true });
  // The editor asks a login shell for the PATH; this one reads no profile, and has none to tell.
  const shell = join(OUTPUT, "shell");
  await writeFile(shell, '#!/bin/sh\nwhile [ "$1" != -c ]; do shift; done\nexec /bin/sh "$@"\n');
  await chmod(shell, 0o755);
  const list = await server.servePython();
  const env = { PATH: empty, SHELL: shell, UV_PYTHON_DOWNLOADS_JSON_URL: list };
  editor = await Editor.start({ name: NAME, env });
  context = await openBrowser(editor);
  page = await openWindow(context, editor);
});

afterAll(async () => {
  await shoot(page, NAME, "end");
  await context?.close();
  await editor?.stop();
  server?.stop();
});

const storage = () => join(editor.folder, "user/User/globalStorage/vscodelm.vscodelm");
const names = async (folder: string) => (await readdir(join(storage(), folder))).length;

test("the installation says what it does, and can be cancelled", {
  timeout: 240_000,
}, async () => {
  const chat = new Chat(page);
  server.hanging.add("/python.tar.gz");
  await chat.command("vscodelm: Install vscodelm for This Extension");
  const question = page.locator(".monaco-dialog-box");
  await question.waitFor({ timeout: 60_000 });
  await shoot(page, NAME, "question");
  expect(await question.textContent()).toContain("there is no Python on PATH. Download one?");
  await question.locator(".monaco-button", { hasText: "Download Python" }).click();
  await question.waitFor({ state: "detached" });
  const progress = page.locator(".notification-toast", { hasText: "Downloading Python" });
  await progress.waitFor({ timeout: 120_000 });
  await shoot(page, NAME, "progress");
  await progress.locator(".monaco-button", { hasText: "Cancel" }).click();
  await progress.waitFor({ state: "detached", timeout: 30_000 });
  await expect.poll(() => names("environments"), { timeout: 30_000 }).toBe(0);
  await expect.poll(() => names("pythons"), { timeout: 30_000 }).toBe(0);
  server.hanging.clear();
});

test("where the network is gone, the message says so", { timeout: 240_000 }, async () => {
  const chat = new Chat(page);
  const list = server.files.get("/downloads.json") as Buffer;
  const gone = list.toString().replaceAll(server.address, "http://127.0.0.1:9");
  server.files.set("/downloads.json", Buffer.from(gone));
  await chat.command("vscodelm: Install vscodelm for This Extension");
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Download Python" }).click();
  const failure = page.locator(".notification-toast", { hasText: "can't be reached" });
  await failure.waitFor({ timeout: 120_000 });
  await shoot(page, NAME, "offline");
  expect(await failure.locator(".monaco-button").allTextContents()).toEqual(
    expect.arrayContaining(["Try Again", "Show Log"]),
  );
  server.files.set("/downloads.json", list);
  await chat.command("Notifications: Clear All Notifications");
});

test("uv, a Python and the packages are downloaded, and the program runs", {
  timeout: 300_000,
}, async () => {
  const chat = new Chat(page);
  await chat.command("vscodelm: Install vscodelm for This Extension");
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Download Python" }).click();
  const note = join(storage(), "environment.json");
  await expect.poll(() => existsSync(note), { timeout: 240_000 }).toBe(true);
  const { folder, python } = JSON.parse(await readFile(note, "utf8"));
  const program = join(storage(), "environments", folder, "bin/vscodelm");
  expect((await promisify(execFile)(program, ["--version"])).stdout).toContain("vscodelm");
  expect(await readdir(join(storage(), "pythons"))).toEqual([python]);
  expect([await names("environments"), await names("uv")]).toEqual([1, 1]);
});

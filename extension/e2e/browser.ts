// The browser in which the editor is used.

import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { offerModels } from "./agent_host/window_end.ts";
import type { Editor } from "./editor.ts";
import { BROWSER, CHROMIUM } from "./places.ts";

/** All that the browser keeps: the editor's code, which takes five seconds to load and compile. It is
 * known by its address, so the editors have the same. */
const KEPT = ["Cache", "Code Cache"];
const HOST = "vscode.localhost";
export const ADDRESS = `http://${HOST}`;

export async function openBrowser(editor: Editor): Promise<BrowserContext> {
  await forget(BROWSER, ["Default"]);
  await forget(join(BROWSER, "Default"), KEPT);
  const context = await chromium.launchPersistentContext(BROWSER, {
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    headless: true,
    viewport: { width: 1400, height: 900 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // The window may then talk to its Agent Host, which listens on a port of its own.
      "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1:${editor.port}`,
    ],
  });
  if (editor.modelsPort !== undefined) {
    await context.addInitScript(offerModels, editor.modelsPort);
  }
  context.setDefaultTimeout(30_000);
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(`${ADDRESS}/healthz`);
  if (!editor.isUntouched) {
    await keepBuiltInChat(page);
  }
  return context;
}

/** Open the editor's window on its workspace. */
export async function openWindow(context: BrowserContext, editor: Editor): Promise<Page> {
  const blank = context.pages().find((page) => page.url().endsWith("/healthz"));
  const page = blank ?? (await context.newPage());
  await page.goto(`${ADDRESS}/?folder=${encodeURIComponent(editor.workspace)}`, {
    waitUntil: "domcontentloaded",
  });
  await page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
  return page;
}

/** Delete what is in a folder, but for these names. */
async function forget(folder: string, kept: string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = (await readdir(folder)).filter((name) => !kept.includes(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** VS Code switches its built-in chat off at a first start; this says that it has been done. */
async function keepBuiltInChat(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("vscode-web-state-db-global");
        opening.onupgradeneeded = () => opening.result.createObjectStore("ItemTable");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const change = database.transaction("ItemTable", "readwrite");
          change.objectStore("ItemTable").put("true", "builtinChatExtensionEnablementMigration");
          change.onerror = () => reject(change.error);
          change.oncomplete = () => {
            database.close();
            resolve();
          };
        };
      }),
  );
}

// The browser in which the editor is used.

import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import type { Editor } from "./editor.ts";
import { CHROMIUM } from "./places.ts";

export async function openBrowser(editor: Editor): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(
    await mkdtemp(join(editor.folder, "chromium-")),
    {
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
      ],
    },
  );
  context.setDefaultTimeout(30_000);
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(`${editor.address}/healthz`);
  await keepBuiltInChat(page);
  return context;
}

/** Open the editor's window on its workspace. */
export async function openWindow(context: BrowserContext, editor: Editor): Promise<Page> {
  const blank = context.pages().find((page) => page.url().endsWith("/healthz"));
  const page = blank ?? (await context.newPage());
  await page.goto(`${editor.address}/?folder=${encodeURIComponent(editor.workspace)}`, {
    waitUntil: "domcontentloaded",
  });
  await page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
  return page;
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

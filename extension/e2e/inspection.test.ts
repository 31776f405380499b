// What the agents know, as a person sees it: a page in a file, and the same page in the editor, of the chats that
// run. And the report of a problem.

import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type BrowserContext, chromium, type FrameLocator, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScriptedAgent } from "./agent.ts";
import { openBrowser, openWindow } from "./browser.ts";
import { Chat } from "./chat.ts";
import { Editor } from "./editor.ts";
import { CHROMIUM, OUTPUT, PYTHON, REPOSITORY } from "./places.ts";
import { shoot } from "./screenshots.ts";

const NAME = "inspection";
const run = promisify(execFile);
const python = (...args: string[]) => run(PYTHON, args, { cwd: REPOSITORY });

describe("a page in a file", () => {
  const folder = join(OUTPUT, "inspection-file");
  const file = join(folder, "page.html");

  beforeAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await python("-m", "tests.recordings.long_chat", folder);
    await python("-m", "vscodelm", "replay", join(folder, "long.jsonl"), "--html", file);
  });

  test.each(["light", "dark"] as const)("200 requests open within a second, %s", async (scheme) => {
    const browser = await chromium.launch({
      ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
      args: ["--no-sandbox"],
    });
    try {
      const page = await browser.newPage({
        viewport: { width: 1300, height: 850 },
        colorScheme: scheme,
      });
      const said: string[] = [];
      const asked: string[] = [];
      page.on("console", (line) => said.push(line.text()));
      page.on("pageerror", (error) => said.push(error.message));
      page.on("request", (request) => asked.push(request.url()));
      page.on("dialog", (dialog) => said.push(dialog.message()));
      const times: number[] = [];
      for (let tries = 0; tries < 3; tries++) {
        await page.goto(pathToFileURL(file).href);
        const drawn = page.evaluate(() => {
          document.body.getBoundingClientRect(); // with its layout
          return performance.now();
        });
        times.push(await drawn);
      }
      expect(await page.locator("button.row").count()).toBeGreaterThanOrEqual(200);
      const row = page.locator("button.row", { hasText: "<script>alert(1)</script>" }).first();
      await row.click();
      expect(await page.locator("#about").textContent()).toContain("<script>alert(1)</script>");
      await page.locator("button.row", { hasText: "branch" }).first().click();
      expect(await page.locator("#about").textContent()).toMatch(/must not know:.*request \d+/);
      await shoot(page, "inspection-file", scheme);
      expect(said).toEqual([]);
      expect(new Set(asked)).toEqual(new Set([pathToFileURL(file).href]));
      console.log(`The page of 200 requests was drawn in ${times.map(Math.round).join(", ")} ms.`);
      expect(Math.min(...times)).toBeLessThan(1_000); // the machine may do other work, too
    } finally {
      await browser.close();
    }
  });
});

describe("in the editor", () => {
  const agents = join(OUTPUT, "inspection-agents");
  const agent = new ScriptedAgent(agents, "agent");
  let editor: Editor;
  let context: BrowserContext;
  let page: Page;
  let chat: Chat;
  let drawing: FrameLocator;

  beforeAll(async () => {
    await rm(agents, { recursive: true, force: true });
    await mkdir(agents, { recursive: true });
    editor = await Editor.start({
      name: NAME,
      settings: {
        "vscodelm.agents": {
          eliza: { agent: { eliza: { deterministic: true } } },
          scripted: await agent.model({
            words: { slow: [{ say: "once upon a time " }, { hang: true }] },
            otherwise: [{ say: "Yes, " }, { say: "<b>indeed</b>." }],
          }),
        },
      },
    });
    context = await openBrowser(editor);
    page = await openWindow(context, editor);
    chat = new Chat(page);
    drawing = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    await chat.opened();
  });

  afterEach(({ task }) => shoot(page, NAME, task.name));

  afterAll(async () => {
    await context?.close();
    await editor?.stop();
  });

  async function command(title: string): Promise<void> {
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input").first().fill(`>vscodelm: ${title}`);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  const row = (text: string) => drawing.locator("button.row", { hasText: text });

  test("the page draws the chats that run, with an edit and a stop", async () => {
    await chat.choose("Scripted agent");
    await chat.ask("What is new?");
    await chat.ask("And what is <i>old</i>?");
    await chat.edit("And what is <i>old</i>?", "And what is blue?");
    await chat.send("slow");
    await chat.shows("once upon");
    await command("Show What the Agent Knows");
    await row("What is new?").waitFor();
    expect(await row("slow").textContent()).toContain("is answered");
    await chat.stopButton.click();
    await row("slow").filter({ hasText: "cancelled" }).waitFor();
    expect(await row("What is new?").first().textContent()).toContain("new");
    await row("And what is blue?").click();
    const about = drawing.locator("#about");
    await about.getByText("Its session must not know:").waitFor();
    expect(await about.locator("s").textContent()).toBe("And what is <i>old</i>?");
    expect(await about.textContent()).toContain("<b>indeed</b>");
    expect(await about.textContent()).toMatch(/in process \d+/);
  });

  test("a new request comes by itself, and the choice stays", async () => {
    await chat.ask("One thing more");
    await row("One thing more").waitFor();
    expect(await drawing.locator(".row.chosen").textContent()).toContain("And what is blue?");
  });

  test("it follows a dark theme", async () => {
    const file = join(editor.folder, "user/User/settings.json");
    const settings = JSON.parse(await readFile(file, "utf8"));
    settings["workbench.colorTheme"] = "Default Dark Modern";
    await writeFile(file, JSON.stringify(settings));
    const machine = join(editor.folder, "user/Machine/settings.json");
    await writeFile(machine, JSON.stringify(settings));
    await drawing.locator("body.vscode-dark").waitFor();
  });

  test("a report of a problem is a document that the user reads first", async () => {
    await command("Report a Problem");
    const text = page.locator(".part.editor .monaco-editor .view-lines").last();
    await text.getByText("A problem with vscodelm").waitFor({ timeout: 120_000 });
    const read = async () => ((await text.textContent()) ?? "").replaceAll("\u00a0", " ");
    expect(await read()).toContain("Nothing was sent.");
    expect(await read()).toMatch(/- vscodelm: \d/);
    expect(await read()).not.toContain("What is new?");
    await page.locator(".tab", { hasText: "Untitled-1" }).waitFor();
  });
});

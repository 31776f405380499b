// A VS Code whose agent runs in the Agent Host, with a scripted agent behind our model.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Heard, ScriptedAgent } from "../agent.ts";
import { openBrowser, openWindow } from "../browser.ts";
import { Chat } from "../chat.ts";
import { AGENT_HOST } from "../editions.ts";
import { Editor } from "../editor.ts";
import { OUTPUT } from "../places.ts";
import { shoot } from "../screenshots.ts";
import { type Asked, Traces } from "../traces.ts";

/** A host that is told of a call at once may not show its question yet, so answers take a moment. */
export const MOMENT = { sleep: 1.5 };

const MODELS_ASKED = "lm/provideLanguageModelChatInformation";

export interface Options {
  /** Names the run's folder in the output. */
  run: string;
  script: object;
  files?: Record<string, string>;
  extensions?: string[];
  env?: Record<string, string>;
  /** Further models. */
  models?: Record<string, object>;
  /** Further models of the same agent, each with what is different. */
  variants?: Record<string, object>;
}

/** Return the path of a file in the workspace of a run. */
export function inWorkspace(run: string, name: string): string {
  return join(OUTPUT, run, "workspace", name);
}

/** Steps that ask for permission, and say what the answer was. */
export function asks(callId: string): object[] {
  const rawInput = { command: `make ${callId}`, description: "Build" };
  const ask = { toolCallId: callId, title: "bash", kind: "execute", rawInput };
  return [{ ask }, { await: true }, { outcomes: true }];
}

/** Have an editor run for the tests of a file; each goes on in the chat of the one before. */
export function started(options: Options): Hosted {
  const hosted = new Hosted(options.run);
  beforeAll(() => hosted.start(options));
  afterEach(({ task }) => hosted.shoot(task.name));
  afterAll(() => hosted.stop());
  return hosted;
}

export class Hosted {
  readonly agent: ScriptedAgent;
  editor!: Editor;
  page!: Page;
  chat!: Chat;
  private readonly folder: string;
  private context!: BrowserContext;

  constructor(private readonly run: string) {
    this.folder = join(OUTPUT, `${run}-agents`);
    this.agent = new ScriptedAgent(this.folder, "agent");
  }

  async start(options: Options): Promise<void> {
    const { script, files = {}, extensions = [], env, models } = options;
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.folder, { recursive: true });
    const agents: Record<string, object> = { ...models, scripted: await this.agent.model(script) };
    for (const [name, more] of Object.entries(options.variants ?? {})) {
      agents[name] = await this.agent.model(script, { name: `Scripted ${name}`, ...more });
    }
    this.editor = await Editor.start({
      name: this.run,
      edition: AGENT_HOST,
      extensions,
      env: { GIT_CEILING_DIRECTORIES: OUTPUT, ...env }, // the host shows what has changed in a repository
      files,
      settings: {
        "chat.agentHost.byokModels.enabled": true,
        "chat.agentHost.allowSignedOutWhenUsable": true,
        "chat.editor.preferCopilotHarness": true,
        "chat.defaultToCopilotHarness": true,
        "vscodelm.agents": agents,
        "vscodelm.tools.duplicates": "offer",
      },
    });
    this.context = await openBrowser(this.editor);
    this.page = await openWindow(this.context, this.editor);
    this.chat = new Chat(this.page);
    await this.chat.opened();
    await this.chat.choose("Scripted agent");
    await this.hasModels();
  }

  async stop(): Promise<void> {
    await this.context?.close();
    await this.editor?.stop();
  }

  shoot(name: string): Promise<void> {
    return shoot(this.page, this.run, name);
  }

  /** Wait until the window has told its Agent Host of our models. */
  async hasModels(): Promise<void> {
    const offered = () => ((globalThis as { offeredModels?: number }).offeredModels ?? 0) > 0;
    await this.page.waitForFunction(offered, undefined, { timeout: 60_000 });
  }

  /** Load the window anew. A message that is sent before it knows our models makes it ask for a login. */
  async reload(): Promise<void> {
    const traces = new Traces(this.editor);
    const before = (await traces.lines(MODELS_ASKED)).length;
    await this.chat.reload();
    await this.hasModels();
    for (const end = Date.now() + 60_000; (await traces.lines(MODELS_ASKED)).length === before; ) {
      if (Date.now() > end) {
        throw new Error("the window hasn't asked for our models");
      }
      await this.page.waitForTimeout(200);
    }
    await this.page.waitForTimeout(2_000); // it takes them in
  }

  /** Send a message, and return the model's words. */
  async ask(text: string): Promise<string> {
    await this.chat.send(text);
    return this.chat.words();
  }

  /** Press a button of the question. It asks for this once: no button allows more. */
  async press(name: "Allow Once" | "Skip"): Promise<void> {
    await this.chat.question.waitFor();
    const buttons = this.chat.question.locator(".monaco-button:visible");
    expect((await buttons.allTextContents()).map((text) => text.trim()).filter(Boolean)).toEqual([
      "Allow Once",
      "Skip",
    ]);
    await buttons.filter({ hasText: name }).first().click();
  }

  /** Return the newest text of each prompt. */
  async told(): Promise<(string | undefined)[]> {
    return (await this.agent.prompts()).map(({ texts }) => texts.at(-1));
  }

  /** Return the sessions that were prompted. */
  async sessions(): Promise<string[]> {
    return [...new Set((await this.agent.prompts()).map(({ session }) => session))];
  }

  /** Return how the agent's questions were answered. */
  async outcomes(): Promise<(string | undefined)[]> {
    return (await this.agent.heard()).flatMap(({ result }) =>
      result?.outcome ? [result.outcome.optionId] : [],
    );
  }

  /** Return what the agent was told by a method. */
  async heard(method: string): Promise<Heard[]> {
    return (await this.agent.heard()).filter((one) => one.method === method);
  }

  /** Return what the editor has asked of a model. */
  requests(model = "scripted"): Promise<Asked[]> {
    return new Traces(this.editor).requestsTo(model);
  }

  async cancels(): Promise<number> {
    return (await this.heard("session/cancel")).length;
  }

  /** Wait until the agent was told of one more stop; fail after so many seconds. */
  async tillCancelled(before: number, seconds: number): Promise<void> {
    const from = Date.now();
    while ((await this.cancels()) === before) {
      if (Date.now() - from > seconds * 1_000) {
        throw new Error(`the agent wasn't told of the stop within ${seconds} s`);
      }
      await this.page.waitForTimeout(100);
    }
    console.log(`The stop took ${((Date.now() - from) / 1_000).toFixed(1)} s.`);
  }
}

import { chmod, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { Provider } from "../src/chat/provider.ts";
import { activate, deactivate } from "../src/extension.ts";
import { userFile } from "../src/mcp/profile.ts";
import { boxNow, type FakeQuickPick } from "./boxes.ts";
import { Memory, Vault } from "./memory.ts";
import { configure, openAnew, openFolder, person, providerOf } from "./vscode.ts";

const FAKE = fileURLToPath(new URL("fake_server.mjs", import.meta.url));
const DOCTOR = `case " $* " in *" doctor "*) echo '{"usable":true,"findings":[]}'; exit;; esac`;
const never = new vscode.CancellationTokenSource().token;
/** Processes take their time to start where every core is busy. */
const SOON = { timeout: 20_000 };

const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));

let context: vscode.ExtensionContext;

beforeEach(async () => {
  openAnew();
  const user = await mkdtemp(join(tmpdir(), "vscodelm-extension-"));
  const folder = join(user, "globalStorage", "vscodelm.vscodelm");
  await mkdir(folder, { recursive: true });
  const program = join(folder, "vscodelm");
  await writeFile(program, `#!/bin/sh\n${DOCTOR}\nexec "${process.execPath}" "${FAKE}"\n`);
  await chmod(program, 0o755);
  configure("vscodelm.path", program);
  configure("vscodelm.agents", { eliza: { agent: { eliza: {} } } });
  context = {
    subscriptions: [],
    secrets: new Vault(),
    globalState: new Memory(),
    globalStorageUri: { fsPath: folder },
    extensionUri: { fsPath: folder },
    extension: { packageJSON: manifest },
  } as unknown as vscode.ExtensionContext;
  activate(context);
});

afterEach(async () => {
  await deactivate();
  for (const owned of context.subscriptions) {
    owned.dispose();
  }
});

function provider(): Provider {
  return providerOf<Provider>("vscodelm");
}

interface Schema {
  properties: { kind: { enum: string[] } };
}

function models(): string[] {
  return provider()
    .provideLanguageModelChatInformation()
    .map(({ id }) => id);
}

/** Ask a model, as an editor does; `heard` is given each text of the answer. */
async function ask(text: string, heard = (_: string) => {}): Promise<string> {
  const content = [new vscode.LanguageModelTextPart(text)];
  const model = provider().provideLanguageModelChatInformation()[0];
  let answer = "";
  const report = (part: unknown) => {
    answer += (part as vscode.LanguageModelTextPart).value;
    heard((part as vscode.LanguageModelTextPart).value);
  };
  await provider().provideLanguageModelChatResponse(
    model as vscode.LanguageModelChatInformation,
    [{ role: 1, content, name: undefined }],
    { toolMode: 1 },
    { report },
    never,
  );
  return answer;
}

function run(command: string): Thenable<unknown> {
  return vscode.commands.executeCommand(`vscodelm.${command}`);
}

test("every command that the package lists is there, and no other", async () => {
  const listed = manifest.contributes.commands.map(({ command }: { command: string }) => command);
  expect((await vscode.commands.getCommands(true)).sort()).toEqual(listed.sort());
});

test("the tool and the vendor that the package lists are there", async () => {
  expect(providerOf(manifest.contributes.languageModelTools[0].name)).toBeDefined();
  expect(providerOf(manifest.contributes.languageModelChatProviders[0].vendor)).toBeDefined();
});

test("the menu runs any command", async () => {
  person.picks = ["Show Log"];
  await run("manage");
  expect(person.sawLog).toBe(true);
});

test("an editor whose user wants to add models leads to an agent, and silent questions don't", async () => {
  provider().provideLanguageModelChatInformation({ silent: true });
  provider().provideLanguageModelChatInformation({ silent: false });
  await vi.waitFor(() => expect(person.lists[0]).toContain("Claude Code"));
  await run("manage");
  expect(person.lists.map((list) => list.includes("Claude Code"))).toEqual([true, false]);
  expect(person.ran).toContainEqual([
    "lm.addLanguageModelsProviderGroup",
    { vendor: "vscodelm", name: "vscodelm" },
  ]);
});

test("a model answers through the process, and a running answer isn't in the status bar", async () => {
  await vi.waitFor(() => expect(models()).toContain("own"), SOON); // the process has started
  expect(await ask("a b")).toBe("ab");
  const hanging = ask("hang").catch((error: Error) => error.message);
  expect(await ask("c d")).toBe("cd"); // it answers while the other runs
  await run("restart");
  expect(await hanging).toContain("vscodelm was stopped");
  expect(person.status).toEqual([]);
});

test("an agent's question is shown with its model's name, and closes with the process", async () => {
  const answer = ask("elicit");
  await vi.waitFor(() => expect(boxNow()?.title).toBe("Eliza asks you to confirm"), SOON);
  (boxNow() as FakeQuickPick<{ label: string }>).click("Accept");
  expect(await answer).toContain('"result":{"action":"accept","content":{}}');
  const lost = ask("elicit").catch((error: Error) => error.message);
  await vi.waitFor(() => expect(boxNow()).toBeDefined(), SOON);
  await run("restart");
  expect(boxNow()).toBeUndefined();
  expect(await lost).toContain("vscodelm was stopped");
});

test("models that the process knows by itself are listed with those of the settings", async () => {
  await vi.waitFor(() => expect(models()).toEqual(["eliza", "own"]), SOON);
});

test("a change of the agents counts at once, in the same process", async () => {
  const before = await ask("pid");
  const changes = vi.fn();
  provider().onDidChangeLanguageModelChatInformation(changes);
  configure("vscodelm.agents", { mine: { agent: { acp: { command: "mine" } } } });
  expect(models()).toContain("mine");
  expect(changes).toHaveBeenCalled();
  expect(await ask("pid")).toBe(before);
});

test("the models of the settings are listed with their agents' choices, a changed agent's too", async () => {
  const choices = (id: string) =>
    provider()
      .provideLanguageModelChatInformation()
      .filter((model) => model.id === id)
      .map((model) => (model as { configurationSchema?: Schema }).configurationSchema);
  await vi.waitFor(() => expect(models()).toContain("own"), SOON);
  configure("vscodelm.agents", { mine: { agent: { acp: { command: "mine" } } } });
  const kinds = () => choices("mine")[0]?.properties.kind.enum;
  await vi.waitFor(() => expect(kinds()).toEqual(["acp"]), SOON);
  configure("vscodelm.agents", { mine: { agent: { mcp_server: { command: "mine" } } } });
  await vi.waitFor(() => expect(kinds()).toEqual(["mcp_server"]), SOON);
  expect(choices("mine")).toHaveLength(1);
});

test("the program knows the folders of the window, later ones too", async () => {
  const { fsPath } = context.globalStorageUri;
  expect(await ask("folders")).toBe("");
  await mkdir(join(fsPath, "one"));
  openFolder(join(fsPath, "one"));
  openFolder(join(fsPath, "two"));
  expect(await ask("folders")).toBe(`${join(fsPath, "one")} ${join(fsPath, "two")}`);
  await run("restart");
  expect(await ask("folders")).toBe(`${join(fsPath, "one")} ${join(fsPath, "two")}`);
});

test("the program knows the MCP servers that the user has chosen, and forgets them", async () => {
  const file = userFile(context.globalStorageUri.fsPath);
  await writeFile(file, '{ "servers": { "files": { "command": "/bin/files" } } }');
  expect(await ask("servers")).toBe("");
  person.ticks.push(["files"]);
  await run("chooseMcpServers");
  expect(await ask("servers")).toBe("files/bin/files");
  await run("restart");
  expect(await ask("servers")).toBe("files/bin/files");
  person.ticks.push([]);
  await run("chooseMcpServers");
  expect(await ask("servers")).toBe("");
});

test("a change of the program's own settings starts it anew", async () => {
  const before = await ask("pid");
  configure("vscodelm.environment", { SECRET: "from the settings" });
  await vi.waitFor(async () => expect(await ask("cwd")).toContain("from the settings"), SOON);
  expect(await ask("pid")).not.toBe(before);
});

test("a folder's settings start nothing, and the log says once that they don't count", async () => {
  const before = await ask("pid");
  const folder = join(context.globalStorageUri.fsPath, "folder");
  await mkdir(join(folder, ".vscode"), { recursive: true });
  const evil = JSON.stringify({ "vscodelm.path": "/evil/vscodelm" });
  await writeFile(join(folder, ".vscode/settings.json"), evil);
  openFolder(folder);
  const told = () => person.log.filter((line) => line.includes("is ignored"));
  await vi.waitFor(() => expect(told()).toHaveLength(1), SOON);
  configure("vscodelm.path", "/evil/vscodelm", "workspace");
  configure("vscodelm.thinking", "hide", "workspace");
  expect(await ask("pid")).toBe(before);
  expect(told()).toHaveLength(1);
  expect(person.log.join("\n")).not.toContain("/evil");
});

test("an editor that takes a folder's values doesn't start anew for them either", async () => {
  await deactivate();
  openAnew({ honoursScopes: false });
  configure("vscodelm.path", join(context.globalStorageUri.fsPath, "vscodelm"));
  activate(context);
  const before = await ask("pid");
  configure("vscodelm.path", "/evil/vscodelm", "workspace");
  configure("vscodelm.arguments", ["--evil"], "folder");
  expect(await ask("pid")).toBe(before);
});

test("settings of others are none of ours", async () => {
  const before = await ask("pid");
  const changes = vi.fn();
  provider().onDidChangeLanguageModelChatInformation(changes);
  configure("editor.fontSize", 12);
  expect(changes).not.toHaveBeenCalled();
  expect(await ask("pid")).toBe(before);
});

test.each<[string, () => unknown]>([
  ["the settings", () => configure("vscodelm.arguments", ["--fast"])],
  ["a key", () => context.secrets.store("environment:SECRET", "s3cret")],
])(
  "who answers isn't ended by a change of %s, which counts for the next message",
  async (_, change) => {
    const pid = await ask("pid");
    let isHeard = () => {};
    const heard = new Promise<void>((resolve) => {
      isHeard = resolve;
    });
    const hanging = ask("hang", isHeard);
    await heard;
    await change();
    await vi.waitFor(async () => expect(await ask("pid")).not.toBe(pid), SOON);
    process.kill(Number(pid), "SIGUSR2"); // the fake finishes what hangs
    expect(await hanging).toBe(`well done by ${pid}`);
    expect(person.asked).toEqual([]);
  },
);

test("what hangs is ended by whoever wants that", async () => {
  const pid = await ask("pid");
  let isHeard = () => {};
  const heard = new Promise<void>((resolve) => {
    isHeard = resolve;
  });
  const hanging = ask("hang", isHeard).catch((error: Error) => error.message);
  await heard;
  await run("restart");
  expect(await hanging).toContain("vscodelm was stopped");
  expect(await ask("pid")).not.toBe(pid);
});

test("a crash is told, with the way to the log, and the next message starts the program", async () => {
  const pid = await ask("pid");
  person.presses = "Show Log";
  await expect(ask("crash")).rejects.toThrow("Its last words: boom");
  expect(person.asked).toEqual([
    "vscodelm has ended: it exited with status 7. Its last words: boom The next message starts it again.",
  ]);
  await vi.waitFor(() => expect(person.sawLog).toBe(true), SOON);
  expect(person.log).toContain("boom");
  expect(await ask("pid")).not.toBe(pid);
});

test("the statistics are written into the log, which is shown", async () => {
  await run("showStatistics");
  expect(person.log).toContain("requests: main 2, utility 1");
  expect(person.sawLog).toBe(true);
  await run("restart");
  configure("vscodelm.path", "/nowhere/vscodelm");
  await run("showStatistics");
  const told = () => person.asked.filter((text) => text.includes("/nowhere/vscodelm"));
  expect(told()).toHaveLength(1);
  expect(person.log.filter((line) => line.startsWith("showStatistics: "))).toHaveLength(1);
});

test("a secret is given to the process at once, and is in no log", async () => {
  await ask("a");
  person.types = ["SECRET", "s3cret"];
  await run("setSecret");
  expect(await ask("cwd")).toContain("s3cret");
  person.picks = ["SECRET"];
  await run("deleteSecret");
  expect(await ask("cwd")).not.toContain("s3cret");
  expect(person.log.join("\n")).not.toContain("s3cret");
});

test("a secret that another window sets, changes or deletes counts here, too", async () => {
  const { secrets } = context; // all windows have the same
  await ask("a");
  await secrets.store("environment:SECRET", "one");
  expect(await ask("cwd")).toContain("one");
  await secrets.store("environment:SECRET", "two");
  expect(await ask("cwd")).toContain("two");
  await secrets.delete("environment:SECRET");
  expect(await ask("cwd")).toContain("undefined");
});

test("what else is kept in the secret storage starts nothing anew", async () => {
  const pid = await ask("pid");
  await context.secrets.store("something", "else");
  expect(await ask("pid")).toBe(pid);
});

test("the sessions of an agent that is removed end with their process", async () => {
  configure("vscodelm.agents", { mine: { agent: { acp: { command: "mine" } } } });
  const pid = await ask("pid");
  await run("removeAgent"); // and leaving the list
  expect(await ask("pid")).toBe(pid);
  person.picks = ["mine"];
  person.presses = "Remove";
  await run("removeAgent");
  expect(models()).not.toContain("mine");
  expect(await ask("pid")).not.toBe(pid);
});

test("the list of names that earlier versions kept is removed", async () => {
  await deactivate();
  await context.globalState.update("secretNames", ["OLD"]);
  activate(context);
  expect(context.globalState.get("secretNames")).toBeUndefined();
});

test("what is only fetched from the registry is given no secrets, and a doctor is", async () => {
  await ask("a");
  person.types = ["SECRET", "s3cret"];
  await run("setSecret");
  const agents = JSON.stringify({
    registry: { agents: [{ id: "far", name: "Far", readiness: "not installed" }] },
  });
  const program = join(context.globalStorageUri.fsPath, "registry");
  const cases = `*doctor*) echo "it has $SECRET";; *) echo '${agents}';;`;
  await writeFile(program, `#!/bin/sh\ncase "$*" in ${cases} esac\n`);
  await chmod(program, 0o755);
  configure("vscodelm.path", program);
  person.picks = ["More from the registry...", "Far"];
  await run("addAgent");
  person.picks = ["eliza"];
  await run("runDoctor");
  const given = person.terminals.map(({ name, env }) => [name, env.SECRET]);
  expect(given).toEqual([["Install Far", undefined]]);
  expect([...person.documents.values()].join()).toContain("it has s3cret");
});

test("the process ends with the window", async () => {
  const pid = Number(await ask("pid"));
  await deactivate();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  await expect(ask("a")).rejects.toThrow("The window is closing.");
});

test("what the agents know is drawn by the page of the program", async () => {
  await run("showKnowledge");
  const [panel] = person.panels;
  expect(panel?.webview.html).toBe("<p>the page</p>");
  panel?.says({ type: "ready" });
  await vi.waitFor(() => expect(panel?.sent[0]?.events).toHaveLength(1), SOON);
});

test("a problem is reported with versions, decisions and the log, and without secrets", async () => {
  configure("vscodelm.environment", { MY_KEY: "swordfish-1" });
  await run("restart");
  await run("reportProblem");
  const [text = ""] = person.documents.values();
  expect(text).toMatch(/- vscodelm: 1\n- Fake: 1\.120\.0/);
  expect(text).toContain("request 1, main, conversation 1, eliza");
  expect(text).toContain("vscodelm was stopped; it starts again now.");
  expect(text).not.toMatch(/secret plan|swordfish/);
});

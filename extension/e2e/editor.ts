// A real VS Code: code-server with the extension installed from its package, in folders of its own.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { codeServerOf, type Edition, NEWEST, nodeOf } from "./editions.ts";
import { packaged, packagedFor } from "./package.ts";
import { E2E, OUTPUT, REPOSITORY, VSCODELM } from "./places.ts";

const run = promisify(execFile);

export interface EditorOptions {
  /** Names the run's folder in the output. */
  name: string;
  /** The version of VS Code; without it the newest. */
  edition?: Edition;
  settings?: Record<string, unknown>;
  /** Further extensions, as folders. */
  extensions?: string[];
  /** What is done to the installed extensions before the editor starts. */
  prepare?: (extensions: string) => Promise<void>;
  files?: Record<string, string>;
  /** Files that hold the path of the workspace. */
  filesIn?: (workspace: string) => Record<string, string>;
  env?: Record<string, string>;
  /** As an editor is after its installation: it has no settings, and its storage is empty. */
  isUntouched?: boolean;
  /** Ask whether the folder is to be trusted; otherwise it is. */
  asksForTrust?: boolean;
}

export class Editor {
  private constructor(
    readonly folder: string,
    readonly workspace: string,
    readonly port: number,
    private readonly server: ChildProcess,
    readonly isUntouched: boolean,
    /** Where its Agent Host waits for windows that have models; undefined where it has none. */
    readonly modelsPort: number | undefined,
  ) {}

  static async start(options: EditorOptions): Promise<Editor> {
    const folder = join(OUTPUT, options.name);
    await rm(folder, { recursive: true, force: true });
    const workspace = join(folder, "workspace");
    const [user, extensions, home] = ["user", "extensions", "home"].map((name) =>
      join(folder, name),
    );
    for (const place of [
      join(user as string, "User"),
      join(user as string, "Machine"),
      extensions,
      home,
      workspace,
    ]) {
      await mkdir(place as string, { recursive: true });
    }
    const files = { ...options.files, ...options.filesIn?.(workspace) };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(workspace, name)), { recursive: true });
      await writeFile(join(workspace, name), text);
    }
    const usual = {
      "security.workspace.trust.enabled": options.asksForTrust ?? false,
      "workbench.startupEditor": "none",
      "telemetry.telemetryLevel": "off",
      "extensions.autoUpdate": false,
      "extensions.autoCheckUpdates": false,
      "update.mode": "none",
      // Agents listen on ports of their own; what the editor says of that would lie over the chat.
      "remote.autoForwardPorts": false,
      "terminal.integrated.gpuAcceleration": "off", // what is in it can be read from the page then
      ...underTest(folder),
    };
    const settings = {
      "workbench.colorTheme": "Default Light Modern",
      "git.openRepositoryInParentFolders": "never", // it would ask, over the chat, about our own
      ...(options.isUntouched ? {} : usual),
      ...options.settings,
    };
    // Settings of the machine are apart from the user's, as in any remote window.
    for (const place of ["User", "Machine"]) {
      await writeFile(
        join(user as string, place, "settings.json"),
        JSON.stringify(settings, null, 2),
      );
    }
    // A vendor of the user's own: chats then need no GitHub account.
    const groups = JSON.stringify([{ vendor: "vscodelm", name: "vscodelm" }]);
    if (!options.isUntouched) {
      await writeFile(join(user as string, "User/chatLanguageModels.json"), groups);
    }
    const places = ["--extensions-dir", extensions, "--user-data-dir", user] as string[];
    const edition = options.edition ?? NEWEST;
    const modelsPort = edition.hasAgentHost ? await freePort() : undefined;
    const env: NodeJS.ProcessEnv = {
      ...(options.isUntouched ? withoutNpm(process.env) : process.env),
      HOME: home,
      VSCODELM_STATE_DIR: join(folder, "state"),
      ...(modelsPort === undefined ? {} : { MODELS_PORT: String(modelsPort) }),
      ...options.env,
    };
    delete env.VSCODE_IPC_HOOK_CLI;
    const config = ["--config", join(folder, "config.yaml")];
    const [node, program] = [nodeOf(edition), codeServerOf(edition)];
    const vsix = await (edition.needsOtherEngines ? packagedFor(edition.version) : packaged());
    await run(node, [program, ...places, ...config, "--install-extension", vsix], { env });
    for (const name of options.extensions ?? []) {
      await cp(join(E2E, name), join(extensions as string, `test.${name}-0.0.1`), {
        recursive: true,
      });
    }
    if (options.extensions?.length) {
      // Without this list every folder counts, not only what was installed.
      await rm(join(extensions as string, "extensions.json"));
    }
    await options.prepare?.(extensions as string);
    if (options.isUntouched) {
      await installNode(home as string);
    }
    const port = await freePort();
    const log = openSync(join(folder, "server.log"), "a");
    const server = spawn(
      node,
      [
        program,
        ...places,
        ...config,
        ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
        ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
        ...(options.asksForTrust || options.isUntouched ? [] : ["--disable-workspace-trust"]),
      ],
      { env, stdio: ["ignore", log, log], detached: true },
    );
    const { isUntouched = false } = options;
    const editor = new Editor(folder, workspace, port, server, isUntouched, modelsPort);
    await editor.answers();
    return editor;
  }

  /** Wait until a chat is on disk, to which the editor writes every few seconds. */
  async keeps(text: RegExp): Promise<void> {
    const folder = join(this.folder, "user/User/workspaceStorage");
    for (let tries = 0; tries < 300; tries++) {
      const files = (await readdir(folder, { recursive: true })).filter((file) =>
        file.includes("chatSessions/"),
      );
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
      if (texts.some((found) => text.test(found))) {
        return;
      }
      await sleep(200);
    }
    throw new Error("the editor doesn't keep the chat");
  }

  /** Change a setting of the user, as by hand; the editor hears of it a moment later. */
  async setting(key: string, value: unknown): Promise<void> {
    for (const place of ["User", "Machine"]) {
      const file = join(this.folder, "user", place, "settings.json");
      const settings = JSON.parse(await readFile(file, "utf8"));
      await writeFile(file, JSON.stringify({ ...settings, [key]: value }, null, 2));
    }
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.server.once("exit", resolve));
    if (this.server.exitCode === null && this.server.pid !== undefined) {
      process.kill(-this.server.pid, "SIGTERM");
      await Promise.race([gone, sleep(5000)]);
      try {
        process.kill(-this.server.pid, "SIGKILL");
      } catch {
        // it has gone, with all its children
      }
    }
  }

  private async answers(): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      const response = await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => undefined);
      if (response?.ok) {
        return;
      }
      if (this.server.exitCode !== null) {
        break;
      }
      await sleep(100);
    }
    throw new Error(`code-server didn't start: see ${join(this.folder, "server.log")}`);
  }
}

/** Return the environment as it is outside of npm, which runs the tests. */
function withoutNpm(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith("npm_")),
  );
}

/** Install the tests' Node as a person may have it: in ~/bin. The editor asks a login shell for its PATH. */
async function installNode(home: string): Promise<void> {
  const bin = join(home, "bin");
  const npm = join(dirname(dirname(process.execPath)), "lib/node_modules/npm/bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  await symlink(join(npm, "npx-cli.js"), join(bin, "npx"));
  await writeFile(join(home, ".profile"), 'PATH="$HOME/bin:$PATH"\n');
}

function underTest(folder: string): Record<string, unknown> {
  return {
    "vscodelm.path": VSCODELM,
    "vscodelm.environment": { PYTHONPATH: REPOSITORY },
    "vscodelm.traceDirectory": join(folder, "traces"),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

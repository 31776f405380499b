// Installs what the tests in the real editor need: a browser from the system's packages, and VS Code as
// it is served to browsers, from npm. Nothing is compiled, and no package's own scripts are run.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHROMIUM, CODE_SERVER, E2E } from "./places.ts";

const FLAGS = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];
/** Which lock file the packages here were installed by. */
const STAMP = join(E2E, "node_modules/.installed");

function run(what: string, command: string, args: string[], folder = E2E): void {
  console.log(`Installing ${what} ...`);
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) {
    console.error(`${what} can't be installed: ${error?.message ?? `status ${status}`}`);
    process.exit(1);
  }
}

function npm(what: string, args: string[], folder?: string): void {
  const script = process.env.npm_execpath;
  if (script === undefined) {
    console.error("This is a script of npm's: npm run test:vscode");
    process.exit(1);
  }
  run(what, process.execPath, [script, ...args, ...FLAGS], folder);
}

function installBrowser(): void {
  if (existsSync(CHROMIUM)) {
    return;
  }
  if (process.getuid?.() !== 0) {
    console.error(
      `There is no ${CHROMIUM}: install Chromium (on Debian: apt-get install chromium), ` +
        "or name another: CHROMIUM=/path/to/chromium",
    );
    process.exit(1);
  }
  run("the list of packages", "apt-get", ["update", "-q"]);
  run("Chromium", "apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"]);
}

function installEditor(): void {
  const lock = readFileSync(join(E2E, "package-lock.json"), "utf8");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === lock) {
    return;
  }
  npm("VS Code", ["ci"]);
  // Its own packages; optional ones would be compiled, and nothing here needs them.
  npm("VS Code's packages", ["install", "--omit=optional"], join(CODE_SERVER, "lib/vscode"));
  writeFileSync(STAMP, lock);
}

installBrowser();
installEditor();

// Installs what the tests in the real editor need: a browser from the system's packages, and VS Code as
// it is served to browsers, from npm. Nothing is compiled, and no package's own scripts are run.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { adviceFor, findChromium } from "./chromium.ts";
import { BROWSER, CHROMIUM, CODE_SERVER, E2E } from "./places.ts";
import { ungrant } from "./ungrant.ts";

const FLAGS = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];
/** Which lock file the packages here were installed by. */
const STAMP = join(E2E, "node_modules/.installed");

/** Return why it failed, undefined if it didn't. */
function failureOf(command: string, args: string[], folder = E2E): string | undefined {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  return status === 0 ? undefined : (error?.message ?? `${command} ended with status ${status}`);
}

function giveUp(message: string): never {
  console.error(message);
  process.exit(1);
}

function npm(what: string, args: string[], folder?: string): void {
  const script = process.env.npm_execpath;
  if (script === undefined) {
    giveUp("This is a script of npm's: npm run test:vscode");
  }
  console.log(`Installing ${what} ...`);
  const failure = failureOf(process.execPath, [script, ...args, ...FLAGS], folder);
  if (failure !== undefined) {
    giveUp(`${what} can't be installed: ${failure}`);
  }
}

function installBrowser(): void {
  if (CHROMIUM !== undefined) {
    return;
  }
  const { CHROMIUM: named } = process.env;
  if (named) {
    giveUp(adviceFor(`there is no ${named}, which CHROMIUM names`));
  }
  if (process.getuid?.() !== 0) {
    giveUp(adviceFor("there is none here, and only root can install it"));
  }
  console.log("Installing Chromium ...");
  // An index that can't be refreshed may still know it.
  const stale = failureOf("apt-get", ["update", "-q"]);
  const failure = failureOf("apt-get", ["install", "-yq", "--no-install-recommends", "chromium"]);
  if (failure !== undefined) {
    const why = stale === undefined ? "" : " (nor could its list of packages be refreshed)";
    giveUp(adviceFor(`it can't be installed: ${failure}${why}`));
  }
  if (findChromium(existsSync, undefined) === undefined) {
    giveUp(adviceFor("the package of that name holds no browser"));
  }
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

/** Leave extensions only what a desktop VS Code grants them. */
function removeGrant(): void {
  const changed = ungrant(join(CODE_SERVER, "lib/vscode"));
  if (changed.length > 0) {
    console.log(`No proposed API for everybody any more in ${changed.join(", ")}`);
    // The browser keeps the editor's code by its address, which is the same as before.
    rmSync(BROWSER, { recursive: true, force: true });
  }
}

installBrowser();
installEditor();
removeGrant();

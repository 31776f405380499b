// Installs what the tests in the real editor need: a browser from the system's packages, and VS Code as
// it is served to browsers, from npm. Nothing is compiled, and no package's own scripts are run.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { wire } from "./agent_host/wire.ts";
import { adviceFor, findChromium } from "./chromium.ts";
import { codeServerOf, type Edition, wheelsOf } from "./editions.ts";
import { BROWSER, CHROMIUM, E2E, PYTHON } from "./places.ts";
import { ungrant } from "./ungrant.ts";

const FLAGS = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];

/** Return why it failed, undefined if it didn't. */
function failureOf(
  command: string,
  args: string[],
  folder = E2E,
  env = process.env,
): string | undefined {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit", env });
  return status === 0 ? undefined : (error?.message ?? `${command} ended with status ${status}`);
}

function install(
  what: string,
  command: string,
  args: string[],
  folder: string,
  env = process.env,
): void {
  console.log(`Installing ${what} ...`);
  const failure = failureOf(command, args, folder, env);
  if (failure !== undefined) {
    throw new Error(`${what} can't be installed: ${failure}`);
  }
}

export function installBrowser(): void {
  if (CHROMIUM !== undefined) {
    return;
  }
  const { CHROMIUM: named } = process.env;
  if (named) {
    throw new Error(adviceFor(`there is no ${named}, which CHROMIUM names`));
  }
  if (process.getuid?.() !== 0) {
    throw new Error(adviceFor("there is none here, and only root can install it"));
  }
  console.log("Installing Chromium ...");
  // An index that can't be refreshed may still know it.
  const stale = failureOf("apt-get", ["update", "-q"]);
  const packages = ["chromium", "fonts-noto-color-emoji"]; // the answers have such characters
  const failure = failureOf("apt-get", ["install", "-yq", "--no-install-recommends", ...packages]);
  if (failure !== undefined) {
    const why = stale === undefined ? "" : " (nor could its list of packages be refreshed)";
    throw new Error(adviceFor(`it can't be installed: ${failure}${why}`));
  }
  if (findChromium(existsSync, undefined) === undefined) {
    throw new Error(adviceFor("the package of that name holds no browser"));
  }
}

/** Install a version of VS Code, unless it is there, and leave extensions only what a desktop grants. */
export function installEdition(edition: Edition): void {
  const { folder } = edition;
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const wanted = lock + (edition.nodeWheel ?? "");
  // Which lock file the packages here were installed by.
  const stamp = join(folder, "node_modules/.installed");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    installPackages(edition);
    writeFileSync(stamp, wanted);
  }
  const vscode = join(codeServerOf(edition), "lib/vscode");
  const changed = ungrant(vscode);
  if (changed.length > 0) {
    console.log(`No proposed API for everybody any more in ${changed.join(", ")}`);
  }
  const isWired = edition.hasAgentHost === true && wire(vscode);
  if (changed.length > 0 || isWired) {
    // The browser keeps the editor's code by its address, which is the same as before.
    rmSync(BROWSER, { recursive: true, force: true });
  }
}

function installPackages(edition: Edition): void {
  const { version, folder, nodeWheel } = edition;
  const { npm_execpath: npm } = process.env;
  if (npm === undefined) {
    throw new Error("This is a script of npm's: npm run test:vscode");
  }
  const name = `VS Code ${version}`;
  install(name, process.execPath, [npm, "ci", ...FLAGS], folder);
  // Its own packages. The optional ones would be compiled; only the Agent Host needs them, and one of
  // them compiled: it stores its chats with it.
  const vscode = join(codeServerOf(edition), "lib/vscode");
  const optional = edition.hasAgentHost ? [] : ["--omit=optional"];
  const packages = ["install", ...optional, ...FLAGS];
  install(`the packages of ${name}`, process.execPath, [npm, ...packages], vscode);
  if (edition.hasAgentHost) {
    compile(npm, join(vscode, "node_modules/@vscode/sqlite3"));
  }
  if (nodeWheel !== undefined) {
    const pip = ["-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps"];
    const args = [...pip, "--target", wheelsOf(edition), nodeWheel];
    install(`the Node of ${name}`, PYTHON, args, folder);
  }
}

/** Compile a package for the Node of the tests, with the headers beside that Node. What is compiled need
 * not be fast: without optimization it takes a third of the time. */
function compile(npm: string, folder: string): void {
  const gyp = join(dirname(dirname(npm)), "node_modules/node-gyp/bin/node-gyp.js");
  const bin = dirname(process.execPath);
  const path = [bin, process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, CFLAGS: "-O0", CXXFLAGS: "-O0" };
  const args = [gyp, "rebuild", "--silent", "--jobs=max", `--nodedir=${dirname(bin)}`];
  install("SQLite", process.execPath, args, folder, env);
}

// code-server grants every proposed API to every extension; a desktop VS Code grants none to an extension
// of the Marketplace. This takes the grant out of an installed code-server, so that what passes in the
// tests works for people. Built-in extensions keep the proposals that VS Code itself gives them.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Every program that asks, below `lib/vscode`. */
const HOSTS = [
  "out/server-main.js",
  "out/vs/workbench/api/node/extensionHostProcess.js",
  "out/vs/workbench/api/worker/extensionHostWorkerMain.js",
];
/** The window also decides which of the proposals that an extension declares are left to it. */
const WINDOW = "out/vs/code/browser/workbench/workbench.js";

/** The throwing check, which calls the function that code-server has changed; minified, so its name varies. */
const CHECK =
  /\{if\(!([\w$]{1,9})\([\w$]{1,9},[\w$]{1,9}\)\)throw new Error\(`Extension '\$\{[\w$.]{1,40}\}' CANNOT use API proposal: /g;
const FOR_ALL = "this._envEnablesProposedApiForAll=";

/** Take the grant out of an installed VS Code (the folder `lib/vscode`). Return the files that were changed. */
export function ungrant(vscode: string): string[] {
  return [...HOSTS, WINDOW].filter((name) => {
    const file = join(vscode, name);
    const source = readFileSync(file, "utf8");
    const changed = namingThe(file, () => ungranted(source, name === WINDOW));
    if (changed === source) {
      return false;
    }
    // In one step: an editor that starts at this moment must not read half a file.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, changed);
    renameSync(draft, file);
    return true;
  });
}

/** Return a bundle without the grant. Fail where it isn't as expected: nothing would be taken out then. */
export function ungranted(source: string, isWindow: boolean): string {
  const names = new Set([...source.matchAll(CHECK)].map(([, name]) => name as string));
  const [name] = names;
  if (name === undefined || names.size > 1) {
    throw new Error(`${names.size} functions decide on proposed API, not 1`);
  }
  const head = `function ${name.replaceAll("$", "\\$")}\\(([\\w$]{1,9}),([\\w$]{1,9})\\)`;
  const asked = replaceOnce(
    source,
    new RegExp(`${head}\\{return!0\\}`, "g"),
    `function ${name.replaceAll("$", "$$$$")}($1,$2){return!!$1.enabledApiProposals?.includes($2)}`,
    new RegExp(`${head}\\{return!!\\1\\.enabledApiProposals\\?\\.includes\\(\\2\\)\\}`, "g"),
  );
  return isWindow
    ? replaceOnce(asked, literally(`${FOR_ALL}!0,`), `${FOR_ALL}!1,`, literally(`${FOR_ALL}!1,`))
    : asked;
}

/** Replace what must be there exactly once, in the old way or already in the new one. */
function replaceOnce(source: string, old: RegExp, by: string, done: RegExp): string {
  const [before, after] = [old, done].map((pattern) => [...source.matchAll(pattern)].length);
  if (before === 0 && after === 1) {
    return source;
  }
  if (before !== 1 || after !== 0) {
    throw new Error(`${old} is there ${before} times, and ${after} times without the grant`);
  }
  return source.replace(old, by);
}

function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(".", "\\."), "g");
}

function namingThe<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new Error(`${file} isn't as expected: ${(error as Error).message}`);
  }
}

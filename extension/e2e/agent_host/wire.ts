// VS Code's Agent Host (a process that runs the Copilot SDK) gets an extension's models from the window. On
// a desktop they are joined by a message port of Electron; in the build that is served to browsers both
// ends exist, but nothing joins them. This joins them, by a WebSocket, and changes nothing else. A build
// in which an end isn't found is refused with the reason.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HOST = "out/vs/platform/agentHost/node/agentHostMain.js";
const WINDOW = "out/vs/code/browser/workbench/workbench.js";
/** Serves the host's end. */
const SERVER = new URL("host_end.mjs", import.meta.url);

const NAME = "[\\w$]{1,9}";
/** The host's registry of windows that have models. */
const REGISTRY = new RegExp(`byok:\\{kind:"renderer",bridgeRegistry:(${NAME})\\}`, "g");
/** The last step before the host's providers are registered; it is inside of an async function. */
const STARTED = new RegExp(`${NAME}\\.value=new ${NAME}\\(${NAME}\\.telemetryService\\);`, "g");
const HANDLER = new RegExp(`var (${NAME})=${NAME}\\("agentHostByokLmHandler"\\);`, "g");
/** A contribution of the window with one injected service, and when it is made. */
const CONTRIBUTION = new RegExp(
  `(${NAME})=(${NAME})\\(\\[(${NAME})\\(0,${NAME}\\)\\],\\1\\);(${NAME})\\(${NAME}\\.ID,${NAME},(${NAME})\\.AfterRestored\\);`,
  "g",
);
/** The setting that allows such models is sent only to a host on the window's own machine. */
const LOCAL = new RegExp(`(agentHost:\\{key:${NAME},scope:)"local"\\}`, "g");
const MARK = "/* joined for tests */";

/** The build isn't the one that these places were read in. */
export class UnknownBuild extends Error {}

/** Join the two ends in an installed VS Code (the folder `lib/vscode`). Return whether it had to be done. */
export function wire(vscode: string): boolean {
  const host = change(join(vscode, HOST), wiredHost);
  const window = change(join(vscode, WINDOW), wiredWindow);
  return host || window;
}

/** Return the host's bundle with its end served. */
export function wiredHost(source: string): string {
  const [, registry] = only(source, REGISTRY, "the registry of windows");
  const [started] = only(source, STARTED, "the end of the start");
  const load = `(await import(${JSON.stringify(SERVER.href)}))`;
  return source.replace(started, () => `${started}${MARK}${load}.serve(${registry});`);
}

/** Return the window's bundle, which then hands its end to the page's `agentHostModels`. */
export function wiredWindow(source: string): string {
  const [, handler] = only(source, HANDLER, "the handler of the models");
  const singleton = new RegExp(`${NAME}\\(${literally(handler as string)},${NAME},1\\);`, "g");
  const [registered] = only(source, singleton, "the handler's registration");
  const [example] = source.matchAll(CONTRIBUTION);
  if (example === undefined) {
    throw new UnknownBuild("no contribution of the window is registered as expected");
  }
  const [, , decorate, inject, register, phase] = example;
  const made = `{let C=class{constructor(h){globalThis.agentHostModels?.(h)}};C=${decorate}([${inject}(0,${handler})],C);${register}("workbench.contrib.agentHostModels",C,${phase}.AfterRestored)}`;
  const joined = source.replace(registered, () => `${registered}${MARK}${made}`);
  only(joined, LOCAL, "the setting of the host on this machine");
  return joined.replace(LOCAL, '$1"ambient"}');
}

function change(file: string, by: (source: string) => string): boolean {
  const source = readFileSync(file, "utf8");
  if (source.includes(MARK)) {
    return false;
  }
  try {
    writeFileSync(file, by(source));
  } catch (error) {
    throw error instanceof UnknownBuild ? new UnknownBuild(`${file}: ${error.message}`) : error;
  }
  return true;
}

function only(source: string, pattern: RegExp, what: string): RegExpMatchArray {
  const [found, ...more] = source.matchAll(pattern);
  if (found === undefined || more.length > 0) {
    throw new UnknownBuild(`${what} is there ${found ? more.length + 1 : 0} times, not once`);
  }
  return found;
}

function literally(name: string): string {
  return name.replaceAll("$", "\\$");
}

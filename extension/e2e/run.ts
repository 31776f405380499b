// Installs what the tests in the real editor need, and runs them; arguments are vitest's. --last-failed
// runs only the files in which a test has failed the last time: whole ones, since each test goes on
// where the one before has ended. --agent-host runs those of VS Code's Agent Host, and nothing else.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UnknownBuild } from "./agent_host/wire.ts";
import { AGENT_HOST, NEWEST } from "./editions.ts";
import { failedFiles } from "./failed.ts";
import { installBrowser, installEdition } from "./install.ts";
import { RESULTS } from "./places.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const LAST_FAILED = "--last-failed";
const IN_AGENT_HOST = "--agent-host";

const wanted = process.argv.slice(2);
const isAgentHost = wanted.includes(IN_AGENT_HOST);
const args = wanted.filter((arg) => ![LAST_FAILED, IN_AGENT_HOST].includes(arg));
const env: NodeJS.ProcessEnv = { ...process.env, ...(isAgentHost ? { AGENT_HOST: "yes" } : {}) };
// Without a report nothing is known to have passed, so all are run.
if (wanted.includes(LAST_FAILED) && existsSync(RESULTS)) {
  args.push(...failedFiles(readFileSync(RESULTS, "utf8")));
}
rmSync(RESULTS, { force: true });
try {
  installBrowser();
  installEdition(isAgentHost ? AGENT_HOST : NEWEST);
} catch (error) {
  if (error instanceof UnknownBuild) {
    console.log(`Skipped: the Agent Host can't be joined with the window. ${error.message}`);
    process.exit(0);
  }
  console.error((error as Error).message);
  process.exit(1);
}
const vitest = [at("../node_modules/vitest/vitest.mjs"), "run", "-c", "vitest.e2e.config.ts"];
const { status } = spawnSync(process.execPath, [...vitest, ...args], { stdio: "inherit", env });
process.exit(status ?? 1);

// Installs what the tests in the real editor need, and runs them; arguments are vitest's. --last-failed
// runs only the files in which a test has failed the last time: whole ones, since each test goes on
// where the one before has ended.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NEWEST } from "./editions.ts";
import { failedFiles } from "./failed.ts";
import { installBrowser, installEdition } from "./install.ts";
import { RESULTS } from "./places.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const LAST_FAILED = "--last-failed";

const wanted = process.argv.slice(2);
const args = wanted.filter((arg) => arg !== LAST_FAILED);
// Without a report nothing is known to have passed, so all are run.
if (wanted.includes(LAST_FAILED) && existsSync(RESULTS)) {
  args.push(...failedFiles(readFileSync(RESULTS, "utf8")));
}
rmSync(RESULTS, { force: true });
try {
  installBrowser();
  installEdition(NEWEST);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
const vitest = [at("../node_modules/vitest/vitest.mjs"), "run", "-c", "vitest.e2e.config.ts"];
const { status } = spawnSync(process.execPath, [...vitest, ...args], { stdio: "inherit" });
process.exit(status ?? 1);

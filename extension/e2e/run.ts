// Installs what the tests in the real editor need, and runs them; arguments are vitest's. --last-failed
// runs only the files in which a test has failed the last time: whole ones, since each test goes on
// where the one before has ended.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { failedFiles } from "./failed.ts";
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
const vitest = [at("../node_modules/vitest/vitest.mjs"), "run", "-c", "vitest.e2e.config.ts"];
for (const program of [[at("install.ts")], [...vitest, ...args]]) {
  const { status } = spawnSync(process.execPath, program, { stdio: "inherit" });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

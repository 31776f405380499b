// Where things are, for the tests in the real editor.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findChromium } from "./chromium.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const REPOSITORY = at("../..");
export const E2E = at(".");
/** What a run leaves behind: screenshots, logs, what agents were told. */
export const OUTPUT = at("output");
/** What became of the files of tests, as vitest reports it. */
export const RESULTS = at("output/results.json");
/** The browser's folder: one for all editors, one after the other, and empty for each of them. */
export const BROWSER = at("output/chromium");
export const CHROMIUM = findChromium(existsSync, process.env.CHROMIUM);
export const PYTHON = process.env.PYTHON ?? at("../../.venv/bin/python");
/** The program under test. */
export const VSCODELM = process.env.VSCODELM ?? at("../../.venv/bin/vscodelm");
export const FAKE_AGENT = at("../../tests/fakes/acp_program.py");
export const FAKE_NPX = at("../../tests/fakes/npx_program.py");

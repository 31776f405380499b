import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

test("an agent runs where the files are, and never in a folder that isn't trusted", () => {
  expect(manifest.extensionKind).toEqual(["workspace"]);
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
});

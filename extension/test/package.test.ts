import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles, PackageManager } from "@vscode/vsce";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PERMISSION_TOOL, PROGRESS_TOOL } from "../src/program/wire.ts";
import { WALKTHROUGH } from "../src/setup/welcome.ts";

const at = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const manifest = JSON.parse(readFileSync(at("package.json"), "utf8"));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vscodelm-package-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("an agent runs where the files are, and never in a folder that isn't trusted", () => {
  expect(manifest.extensionKind).toEqual(["workspace"]);
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
});

test("each tool is called by its name, and no name of a tool that asks can be allowed for good", () => {
  const [asks, shows] = manifest.contributes.languageModelTools;
  expect(shows.name).toBe(PROGRESS_TOOL);
  expect(shows.toolReferenceName).toBe(shows.name);
  expect(shows.inputSchema.properties).toEqual({});
  expect(asks.name).toBe(PERMISSION_TOOL);
  expect(asks.toolReferenceName).toBe(asks.name);
  const eligible = manifest.contributes.configurationDefaults["chat.tools.eligibleForAutoApproval"];
  const own = `${manifest.publisher}.${manifest.name}`;
  expect(eligible).toMatchObject({ [asks.name]: false, [`${own}/${asks.name}`]: false });
});

test("each step of the walkthrough has its page, and its button runs a command of ours", () => {
  const [walkthrough] = manifest.contributes.walkthroughs;
  const commands = manifest.contributes.commands.map(({ command }: { command: string }) => command);
  expect(`${manifest.publisher}.${manifest.name}#${walkthrough.id}`).toBe(WALKTHROUGH);
  for (const { media, description } of walkthrough.steps) {
    expect(readFileSync(at(media.markdown), "utf8")).toContain("##");
    expect(commands).toContain(description.match(/\(command:(.+)\)$/)?.[1]);
  }
});

test("the package holds the code, vscodelm itself with its pins, and nothing that lies about", async () => {
  const packaged = [
    "LICENSE",
    "README.md",
    "dist/SHA256SUMS",
    "dist/extension.cjs",
    "dist/requirements.txt",
    "dist/uv.json",
    "dist/vscodelm-0.1.0-py3-none-any.whl",
    "media/agent.md",
    "media/chat.md",
    "package.json",
  ];
  const others = [
    ".gitignore",
    "biome.json",
    "dist/extension.cjs.map",
    "dist/vscodelm-0.1.0.vsix",
    "e2e/node_modules/code-server/package.json",
    "e2e/output/person/user/secrets.json",
    "node_modules/typescript/package.json",
    "pins/requirements.txt",
    "src/extension.ts",
    "test/package.test.ts",
  ];
  for (const file of [...packaged, ...others]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  for (const file of ["package.json", ".vscodeignore"]) {
    copyFileSync(at(file), join(folder, file));
  }
  const files = await listFiles({ cwd: folder, packageManager: PackageManager.None });
  expect(files.sort()).toEqual(packaged);
});

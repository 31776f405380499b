import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles, PackageManager } from "@vscode/vsce";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PERMISSION_TOOL, PROGRESS_TOOL } from "../src/program/wire.ts";
import { GROUPS, MENU } from "../src/setup/menu.ts";
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

interface Step {
  id: string;
  title: string;
  description: string;
  media: { markdown: string };
  completionEvents: string[];
}

const [walkthrough] = manifest.contributes.walkthroughs as { id: string; steps: Step[] }[];
const steps = walkthrough?.steps ?? [];
const commands: string[] = manifest.contributes.commands.map(
  ({ command }: { command: string }) => command,
);

/** Return the commands that a text links to, each with its arguments. */
function linked(text: string): { command: string; args: unknown }[] {
  return [...text.matchAll(/\(command:([^)?]+)(?:\?([^)]*))?\)/g)].map(([, command, args]) => ({
    command: command ?? "",
    args: args && JSON.parse(decodeURIComponent(args)),
  }));
}

test("the walkthrough leads from the installation to help, in five steps", () => {
  expect(`${manifest.publisher}.${manifest.name}#${walkthrough?.id}`).toBe(WALKTHROUGH);
  expect(steps.map(({ id }) => id)).toEqual(["chat", "eliza", "agent", "ask", "help"]);
  for (const { description, completionEvents } of steps) {
    expect(linked(description).length).toBeGreaterThan(0);
    expect(completionEvents.length).toBeGreaterThan(0);
  }
});

test("each step of the walkthrough has a page with a picture of its own", () => {
  const shown = steps.map(({ media }) => {
    const page = readFileSync(at(media.markdown), "utf8");
    const [, picture] = page.match(/^!\[[^\]]+\]\((pictures\/[^)]+)\)/) ?? [];
    expect(existsSync(at(`media/${picture}`)), `${media.markdown} shows ${picture}`).toBe(true);
    return picture;
  });
  expect(new Set(shown).size).toBe(steps.length);
});

test("each button and link of the walkthrough runs a command of ours, or one of the editor's", () => {
  const theirs = ["workbench.action.chat.open", "workbench.action.openSettings"];
  for (const { command, args } of steps.flatMap(({ description }) => linked(description))) {
    expect([...commands, ...theirs]).toContain(command);
    if (command === "workbench.action.openSettings") {
      const [setting] = args as string[];
      expect(manifest.contributes.configuration.properties).toHaveProperty([setting ?? ""]);
    }
  }
  for (const event of steps.flatMap(({ completionEvents }) => completionEvents)) {
    const [, kind, name = ""] = event.match(/^(onCommand|onContext):(.+)$/) ?? [];
    const known: string[] = kind === "onCommand" ? commands : reached();
    expect(known).toContain(name);
  }
});

/** Return the context keys that the sources set for steps. */
function reached(): string[] {
  const source = readFileSync(at("src/setup/welcome_steps.ts"), "utf8");
  return [...source.matchAll(/"(\w+)"/g)].map(([, name]) => `vscodelm.${name}`);
}

test("each command is reached from the walkthrough, or from the menu to which it leads", () => {
  const inWalkthrough = steps.flatMap(({ description }) => linked(description));
  const inMenu = GROUPS.flatMap(([, names]) => names.map((name) => `vscodelm.${name}`));
  const reachable = new Set([...inWalkthrough.map(({ command }) => command), ...inMenu]);
  expect(commands.filter((command) => !reachable.has(command))).toEqual([]);
  expect(manifest.contributes.languageModelChatProviders[0].managementCommand).toBe(
    `vscodelm.${MENU}`,
  );
});

test("the package holds the code, vscodelm itself with its pins, and nothing that lies about", async () => {
  const packaged = [
    "CHANGELOG.md",
    "LICENSE",
    "README.md", // it is always listed; the package has the one in dist in its place
    "dist/README.md",
    "dist/SHA256SUMS",
    "dist/extension.cjs",
    "dist/requirements.txt",
    "dist/uv.json",
    "dist/vscodelm-0.1.0-py3-none-any.whl",
    "media/chat.md",
    "media/icon.png",
    "media/pictures/eliza.png",
    "package.json",
  ];
  const others = [
    ".gitignore",
    "biome.json",
    "dist/extension.cjs.map",
    "dist/vscodelm-0.1.0.vsix",
    "e2e/icon.ts",
    "e2e/node_modules/code-server/package.json",
    "e2e/output/person/user/secrets.json",
    "media/icon.svg",
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

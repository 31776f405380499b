import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { withheldIn, withheldInManifest } from "./granted.ts";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Uses that need no grant, each with its reason. */
const ALLOWED: Record<string, string[]> = {
  // It reads whom a part of somebody else's result is for. Only making such a part is withheld.
  "chat/outgoing.ts": ["audience (languageModelToolResultAudience)"],
};

test("the extension uses nothing that VS Code withholds from the Marketplace", () => {
  const sources = readdirSync(at("src"), { recursive: true, encoding: "utf8" });
  const found = sources
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [name, withheldIn(readFileSync(join(at("src"), name), "utf8"))] as const)
    .filter(([, uses]) => uses.length > 0);
  expect(Object.fromEntries(found)).toEqual(ALLOWED);
});

test("the package.json declares nothing that VS Code withholds from the Marketplace", () => {
  expect(withheldInManifest(JSON.parse(readFileSync(at("package.json"), "utf8")))).toEqual([]);
});

test.each([
  ["a key", "const model = { capabilities: { toolCalling: true, editTools: ['apply-patch'] } };"],
  ["a key in quotes", 'const model = { "editTools": [] } as object;'],
  ["a computed key", 'const model = { ["editTools"]: [] };'],
  ["a key without its value", "const editTools = f(); g({ editTools });"],
  ["an assignment", "(model as { editTools?: string[] }).editTools = [];"],
  ["an index", 'const tools = model["editTools"];'],
  ["an optional access", "const tools = model?.editTools;"],
  ["a pattern", "const { editTools: tools } = model;"],
  ["a method", "class Provider { editTools(): void {} }"],
  ["a declaration", "interface Model { editTools?: string[] }"],
])("%s that is withheld is found", (_what, source) => {
  expect(withheldIn(source)).toEqual(["editTools (chatProvider)"]);
});

test.each([
  "approveCombination",
  "audience",
  "forceConfirmationReason",
  "handleToolStream",
  "isDefault",
  "pastTenseMessage",
  "presentation",
  "requiresAuthorization",
  "toolResultMessage",
])("%s is withheld", (name) => {
  expect(withheldIn(`report({ ${name}: value });`)).toEqual([expect.stringContaining(name)]);
});

test("functions that no cast makes available are found, and so are names of built-in tools", () => {
  expect(withheldIn("(vscode.lm as any).registerToolDefinition(tool, {});")).toEqual([
    "registerToolDefinition (languageModelToolSupportsModel)",
  ]);
  expect(withheldIn('vscode.lm.registerTool("vscode_ask", tool);')).toEqual([
    "vscode_ask (chatParticipantPrivate)",
  ]);
});

test("a system message that the extension would send is found", () => {
  expect(withheldIn("model.sendRequest([{ role: 3, content: [] }]);")).toEqual([
    "role 3 (languageModelSystem)",
  ]);
});

test("words that only look like a use are none", () => {
  const source = `
    // editTools hides every model.
    const text = "without editTools";
    const tool = "my_vscode_tool";
    const message = { role: 1, content: editTools(3) };
    const value = names[audience];
  `;
  expect(withheldIn(source)).toEqual([]);
});

test("what is withheld is found in a package.json", () => {
  const manifest = {
    enabledApiProposals: [],
    contributes: {
      languageModelTools: [
        { name: "vscode_ask" },
        { name: "ask", legacyToolReferenceFullNames: ["old"] },
      ],
      menus: { "chat/newSession": [], "view/title": [] },
    },
  };
  expect(withheldInManifest(manifest)).toEqual([
    "enabledApiProposals",
    "vscode_ask",
    "legacyToolReferenceFullNames",
    "chat/newSession",
  ]);
});

// What VS Code withholds from an extension of the Marketplace, and where a source or a package.json uses it.
// tsc doesn't see these uses: the declarations lack the names, and a cast or a spread hides them.

import { parseAst } from "vitest/node";

/** Properties and methods that VS Code refuses without a proposal, or ignores. */
const WITHHELD: Record<string, string[]> = {
  chatProvider: ["editTools", "isDefault", "requiresAuthorization"],
  chatParticipantPrivate: [
    "createDynamicChatParticipant",
    "forceConfirmationReason",
    "onDidDisposeChatSession",
    "pastTenseMessage",
    "presentation",
    "registerLanguageModelProxyProvider",
    "toolResultMessage",
  ],
  chatParticipantAdditions: ["fileIsIgnored", "handleToolStream", "onDidChangeChatRequestTools"],
  chatSessionsProvider: ["registerChatSessionContentProvider", "registerChatSessionItemProvider"],
  chatStatusItem: ["createChatStatusItem"],
  embeddings: ["computeEmbeddings", "registerEmbeddingsProvider"],
  languageModelProxy: ["isModelProxyAvailable"],
  languageModelToolResultAudience: ["audience"],
  languageModelToolSupportsModel: ["registerToolDefinition"],
  mcpServerDefinitions: ["mcpServerDefinitions", "startMcpGateway"],
  toolInvocationApproveCombination: ["approveCombination"],
};
const PROPOSALS = new Map(
  Object.entries(WITHHELD).flatMap(([proposal, names]) =>
    names.map((name) => [name, proposal] as const),
  ),
);
/** The role of a system message, which only a sender with `languageModelSystem` may use. */
const SYSTEM = 3;
const BUILT_IN_TOOL = /^(?:vscode|copilot)_/;
/** Menus of package.json; those of the chat all need a proposal. */
const MENU = /^(?:agents|chat|chatSessions)\/|^(?:editor\/context\/chat|viewContainer\/title)$/;

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Return what a source uses although it is withheld, as `name (proposal)`. */
export function withheldIn(source: string): string[] {
  const found = new Set<string>();
  visit(parseAst(source, { lang: "ts" }), (node) => {
    const name = nameIn(node);
    const proposal = PROPOSALS.get(name ?? "");
    if (proposal !== undefined) {
      found.add(`${name} (${proposal})`);
    }
    if (name === "role" && (node.value as Node | undefined)?.value === SYSTEM) {
      found.add("role 3 (languageModelSystem)");
    }
    if (node.type === "Literal" && BUILT_IN_TOOL.test(String(node.value))) {
      found.add(`${node.value} (chatParticipantPrivate)`);
    }
  });
  return [...found].sort();
}

interface Manifest {
  enabledApiProposals?: unknown;
  contributes?: {
    languageModelTools?: { name: string; legacyToolReferenceFullNames?: unknown }[];
    menus?: Record<string, unknown>;
  };
}

/** Return what a package.json declares although it is withheld. */
export function withheldInManifest({ enabledApiProposals, contributes }: Manifest): string[] {
  const tools = contributes?.languageModelTools ?? [];
  return [
    ...(enabledApiProposals === undefined ? [] : ["enabledApiProposals"]),
    ...tools.map(({ name }) => name).filter((name) => BUILT_IN_TOOL.test(name)),
    ...tools.flatMap((tool) =>
      "legacyToolReferenceFullNames" in tool ? ["legacyToolReferenceFullNames"] : [],
    ),
    ...Object.keys(contributes?.menus ?? {}).filter((menu) => MENU.test(menu)),
  ];
}

/** Return the name of a property that a node reads or has, undefined where it is none or computed. */
function nameIn(node: Node): string | undefined {
  const name = (node.type === "MemberExpression" ? node.property : node.key) as Node | undefined;
  if (name?.type === "Identifier") {
    return node.computed === true ? undefined : String(name.name);
  }
  return name?.type === "Literal" ? String(name.value) : undefined;
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      visit(item, see);
    }
  } else if (typeof value === "object" && value !== null) {
    if ("type" in value) {
      see(value as Node);
    }
    for (const child of Object.values(value)) {
      visit(child, see);
    }
  }
}

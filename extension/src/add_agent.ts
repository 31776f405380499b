// Adding a model step by step: an agent of the registry, an endpoint, or a command.

import * as vscode from "vscode";
import { KNOWN_AGENTS, KNOWN_ENDPOINTS, type KnownEndpoint } from "./known_agents.ts";
import { SECTION } from "./own_settings.ts";
import type { Secrets } from "./secrets.ts";

interface Choice extends vscode.QuickPickItem {
  /** Ask what else there is to know; undefined if the user left. */
  entry?: () => Promise<[id: string, entry: object] | undefined>;
  /** Whether it is the one that leads to the whole registry. */
  isRegistry?: boolean;
}

/** `fromRegistry` makes a model of any agent of the registry, and returns its id. */
export async function addAgent(
  secrets: Secrets,
  fromRegistry: () => Promise<string | undefined>,
): Promise<void> {
  const chosen = await vscode.window.showQuickPick(choices(secrets), {
    title: "Add an agent as a model",
    placeHolder: "Who is to answer?",
    matchOnDescription: true,
  });
  if (chosen?.isRegistry) {
    const id = await fromRegistry();
    if (id !== undefined) {
      await tellAdded(id);
    }
    return;
  }
  const added = await chosen?.entry?.();
  if (added === undefined) {
    return;
  }
  const [id, entry] = added;
  const settings = vscode.workspace.getConfiguration(SECTION);
  const own = settings.inspect<Record<string, object>>("agents")?.globalValue ?? {};
  if (id in own && !(await confirmReplacing(id))) {
    return;
  }
  // The editor writes a setting of the scope `machine` where it counts: in a remote window, there.
  await settings.update("agents", { ...own, [id]: entry }, vscode.ConfigurationTarget.Global);
  await tellAdded(id);
}

async function tellAdded(id: string): Promise<void> {
  const open = "Open Settings";
  const next = await vscode.window.showInformationMessage(
    `"${id}" is among the models now: choose it in the chat's model picker.`,
    open,
  );
  if (next === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.agents`);
  }
}

function choices(secrets: Secrets): Choice[] {
  const heading = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    heading("Agents (ACP)"),
    ...KNOWN_AGENTS.map(({ id, name, description }) => ({
      label: name,
      description,
      detail: `Started with npx when it is first asked (registry: ${id})`,
      entry: async (): Promise<[string, object]> => [id, { registry: id }],
    })),
    {
      label: "More from the registry...",
      description: "Whatever the registry of ACP agents offers",
      isRegistry: true,
    },
    { label: "Another agent...", description: "Any command that speaks ACP", entry: askForCommand },
    heading("Endpoints (Open Responses)"),
    ...KNOWN_ENDPOINTS.map((endpoint) => ({
      label: endpoint.name,
      description: endpoint.description,
      detail: endpoint.baseUrl,
      entry: () => askForModel(endpoint, secrets),
    })),
    {
      label: "Another endpoint...",
      description: "Any server that speaks Open Responses",
      entry: () => askForEndpoint(secrets),
    },
  ];
}

async function askForCommand(): Promise<[string, object] | undefined> {
  const line = await ask("The command that starts the agent", "my-agent --acp");
  const [command, ...args] = line?.trim().split(/\s+/) ?? [];
  if (!command) {
    return undefined;
  }
  const id = await ask("An id for the model", "my-agent", idOf(command));
  return id ? [id, { agent: { acp: { command, args } } }] : undefined;
}

async function askForEndpoint(secrets: Secrets): Promise<[string, object] | undefined> {
  const baseUrl = await ask("The endpoint's address", "https://example.org/v1");
  if (!baseUrl) {
    return undefined;
  }
  const apiKeyEnv = await ask(
    "The environment variable that holds its key; leave this empty if it needs none",
    "EXAMPLE_API_KEY",
  );
  const endpoint = { id: "endpoint", name: "endpoint", description: "", baseUrl, example: "model" };
  return askForModel(apiKeyEnv ? { ...endpoint, apiKeyEnv } : endpoint, secrets);
}

async function askForModel(
  endpoint: KnownEndpoint,
  secrets: Secrets,
): Promise<[string, object] | undefined> {
  const { baseUrl, apiKeyEnv, example } = endpoint;
  const model = await ask(`The name of the model at ${endpoint.name}`, example);
  if (!model) {
    return undefined;
  }
  if (apiKeyEnv !== undefined) {
    await askForKey(apiKeyEnv, secrets);
  }
  const key = apiKeyEnv === undefined ? {} : { apiKeyEnv };
  return [
    idOf(`${endpoint.id}-${model.replaceAll("/", "-")}`), // whoever made it is part of its name
    { name: model, detail: endpoint.name, agent: { open_responses: { baseUrl, model, ...key } } },
  ];
}

async function askForKey(name: string, secrets: Secrets): Promise<void> {
  if ((await secrets.names()).includes(name) || process.env[name]) {
    return;
  }
  const value = await vscode.window.showInputBox({
    title: `The key (${name})`,
    prompt: "It is kept in the editor's secret storage. Leave it empty to set it later.",
    password: true,
    ignoreFocusOut: true,
  });
  if (value) {
    await secrets.set(name, value);
  }
}

async function ask(title: string, example: string, value = ""): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title,
    placeHolder: example,
    value,
    ignoreFocusOut: true,
  });
}

async function confirmReplacing(id: string): Promise<boolean> {
  const replace = "Replace";
  const answer = await vscode.window.showWarningMessage(
    `There is a model "${id}" already.`,
    { modal: true },
    replace,
  );
  return answer === replace;
}

/** Return an id made of a name's letters and digits. */
export function idOf(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? name;
  return last
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^-|-$/g, "");
}

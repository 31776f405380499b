// Adding a model step by step: an agent of the registry, an endpoint, or a command. Nothing is changed
// before the last step.

import * as vscode from "vscode";
import { ADDED_LISTED_WITHIN_MS } from "../limits.ts";
import { askForKey, type KeyUse } from "../setup/added_key.ts";
import { findModel, openChat } from "../setup/open_chat.ts";
import { ownAgents, showAgents, writeAgents } from "../setup/own_settings.ts";
import type { Secrets } from "../setup/secrets.ts";
import { reach } from "../setup/welcome_steps.ts";
import { splitCommand } from "./command_line.ts";
import {
  KNOWN_AGENTS,
  KNOWN_ENDPOINTS,
  type KnownAgent,
  type KnownEndpoint,
} from "./known_agents.ts";
import { idOf, programName, unique, whyNoId, whyNoVariable } from "./naming.ts";

/** A model that is to be added, before it has its name and its key. */
interface Draft {
  /** The name that is proposed. */
  name: string;
  /** The id that is proposed with it; by default one made of the name. */
  id?: string;
  key?: KeyUse;
  /** Return its entry in the settings. */
  entry(name: string, variable: string | undefined): object;
}

interface Choice extends vscode.QuickPickItem {
  /** Ask for the rest of the definition; undefined if the user left. */
  draft?: () => Promise<Draft | undefined>;
  /** Whether it is the one that leads to the whole registry. */
  isRegistry?: boolean;
}

/** A model that is there already. */
export interface Present {
  id: string;
  name: string;
}

/** `fromRegistry` makes a model of any agent of the registry, and returns its id. */
export async function addAgent(
  secrets: Secrets,
  models: readonly Present[],
  fromRegistry: () => Promise<string | undefined>,
): Promise<void> {
  const chosen = await vscode.window.showQuickPick(choices(), {
    title: "Add an agent as a model",
    placeHolder: "Choose an agent or an endpoint",
    matchOnDescription: true,
  });
  if (chosen?.isRegistry) {
    const id = await fromRegistry();
    if (id !== undefined) {
      await tellAdded(id, id);
    }
    return;
  }
  const draft = await chosen?.draft?.();
  const named = draft && (await askForNames(draft, models));
  if (named === undefined) {
    return;
  }
  const { id, name } = named;
  const key = await askForKey(draft?.key, id, secrets);
  if (draft === undefined || key === undefined || !(await mayAdd(id, models))) {
    return;
  }
  if (key.variable !== undefined && key.typed !== undefined) {
    await secrets.set(key.variable, key.typed);
  }
  await writeAgents({ ...ownAgents(), [id]: draft.entry(name, key.variable) });
  await tellAdded(id, name);
}

/** Open a chat with the new model. The editor may list it late, or have no chat: the user can choose it then. */
async function tellAdded(id: string, name: string): Promise<void> {
  await reach("hasAgent");
  const next = await vscode.window.showInformationMessage(await wordsOnceAdded(id, name), OPEN);
  if (next === OPEN) {
    await showAgents();
  }
}

async function wordsOnceAdded(id: string, name: string): Promise<string> {
  const added = `"${name}" is among the models now`;
  try {
    if ((await findModel(id, ADDED_LISTED_WITHIN_MS)) !== undefined) {
      await openChat(id);
      return `${added}, and a new chat with it is open. Your first message starts the agent.`;
    }
  } catch {
    // An editor without a chat lacks these commands. The model is there all the same.
  }
  return `${added}: choose it in the chat's model picker.`;
}

const OPEN = "Open Settings";

function choices(): Choice[] {
  const heading = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    heading("Agents (ACP)"),
    ...KNOWN_AGENTS.map((agent) => ({
      label: agent.name,
      description: agent.description,
      detail: `Started with npx by the first message (registry: ${agent.id})`,
      draft: async () => draftOf(agent),
    })),
    {
      label: "More from the registry...",
      description: "All agents of the ACP registry",
      isRegistry: true,
    },
    { label: "Another agent...", description: "Any command that speaks ACP", draft: askForCommand },
    heading("Endpoints (Open Responses)"),
    ...KNOWN_ENDPOINTS.map((endpoint) => ({
      label: endpoint.name,
      description: endpoint.description,
      detail: endpoint.baseUrl,
      draft: () => askForModel(endpoint),
    })),
    {
      label: "Another endpoint...",
      description: "Any server that speaks Open Responses",
      draft: askForEndpoint,
    },
  ];
}

function draftOf({ id, name, secrets }: KnownAgent): Draft {
  const [usual] = secrets;
  return {
    name,
    ...(usual === undefined ? {} : { key: { variables: secrets, hasLogin: true } }),
    entry: (chosen, variable) => ({
      registry: id,
      ...(chosen === name ? {} : { name: chosen }),
      // Under a usual name a key is given to every agent of this kind, without words in its entry.
      ...(usual === undefined || variable === undefined || secrets.includes(variable)
        ? {}
        : { env: { [usual]: `\${secret:${variable}}` } }),
    }),
  };
}

async function askForCommand(): Promise<Draft | undefined> {
  const line = await ask("The command that starts the agent", "my-agent --acp", {
    prompt: "Put quotes around arguments with spaces. There is no shell: no variables, no pipes.",
    validateInput: whyNoCommand,
  });
  const [command, ...args] = splitCommand(line ?? "", process.platform);
  return command === undefined
    ? undefined
    : {
        name: programName(command),
        entry: (name) => ({ name, agent: { acp: { command, args } } }),
      };
}

function whyNoCommand(line: string): string | undefined {
  try {
    return splitCommand(line, process.platform)[0] ? undefined : "A command is needed.";
  } catch (error) {
    return (error as Error).message;
  }
}

async function askForEndpoint(): Promise<Draft | undefined> {
  const baseUrl = await ask("The endpoint's address", "https://example.org/v1");
  if (!baseUrl) {
    return undefined;
  }
  const apiKeyEnv = await ask(
    "The environment variable that holds its key; leave this empty if it needs none",
    "EXAMPLE_API_KEY",
    {
      prompt: "Enter the name of the variable. The last step asks for the key itself.",
      validateInput: (value) => (value === "" ? undefined : whyNoVariable(value)),
    },
  );
  if (apiKeyEnv === undefined) {
    return undefined;
  }
  const endpoint = { id: "endpoint", name: "endpoint", description: "", baseUrl, example: "model" };
  return askForModel(apiKeyEnv ? { ...endpoint, apiKeyEnv } : endpoint);
}

async function askForModel(endpoint: KnownEndpoint): Promise<Draft | undefined> {
  const { baseUrl, apiKeyEnv, example } = endpoint;
  const model = await ask(`The name of the model at ${endpoint.name}`, example);
  if (!model) {
    return undefined;
  }
  return {
    name: model,
    id: idOf(`${endpoint.id}-${model}`), // its maker is part of its name
    ...(apiKeyEnv === undefined ? {} : { key: { variables: [apiKeyEnv], hasLogin: false } }),
    entry: (name, variable) => ({
      name,
      detail: endpoint.name,
      agent: {
        open_responses: {
          baseUrl,
          model,
          ...(variable === undefined ? {} : { apiKeyEnv: variable }),
        },
      },
    }),
  };
}

/** Ask for the model's name in the picker and in the settings. */
async function askForNames(
  draft: Draft,
  models: readonly Present[],
): Promise<{ name: string; id: string } | undefined> {
  const names = models.map((model) => model.name);
  const proposed = unique(draft.name, names, " ");
  const name = await ask("The model's name", "My agent", {
    value: proposed,
    prompt: "The model picker shows it.",
    validateInput: (value) => (value.trim() === "" ? "A name is needed." : undefined),
  });
  if (!name?.trim()) {
    return undefined;
  }
  const own = (name === proposed && draft.id) || idOf(name === proposed ? draft.name : name);
  const taken = idsIn(models);
  const id = await ask("The model's id in the settings", "my-agent", {
    value: unique(own, taken, "-"),
    prompt: "You can keep or change this id.",
    validateInput: (value) =>
      whyNoId(value) ??
      (taken.includes(value)
        ? {
            message: `There is a model "${value}" already. VS Code asks before it is replaced.`,
            severity: vscode.InputBoxValidationSeverity.Warning,
          }
        : undefined),
  });
  return id ? { name: name.trim(), id } : undefined;
}

async function ask(
  title: string,
  placeHolder: string,
  more: Pick<vscode.InputBoxOptions, "value" | "prompt" | "validateInput"> = {},
): Promise<string | undefined> {
  return vscode.window.showInputBox({ title, placeHolder, ignoreFocusOut: true, ...more });
}

function idsIn(models: readonly Present[]): string[] {
  const written = Object.entries(ownAgents()).filter(([, entry]) => entry !== null);
  return [...models.map(({ id }) => id), ...written.map(([id]) => id)];
}

async function mayAdd(id: string, models: readonly Present[]): Promise<boolean> {
  if (!idsIn(models).includes(id)) {
    return true;
  }
  const replace = "Replace";
  const answer = await vscode.window.showWarningMessage(
    `There is a model "${id}" already.`,
    { modal: true },
    replace,
  );
  return answer === replace;
}

// The setting `vscodelm.agents`: models by their ids, and who answers for each. A wrong entry is
// reported, and costs only itself.

import { isObject } from "../json.ts";
import type { ModelInformation } from "../program/wire.ts";
import { findAgent, KNOWN_AGENTS, type KnownAgent } from "./known_agents.ts";
import { fillIn, type Variables } from "./variables.ts";

/** Large, because an agent manages its own context, and editors summarise when this is near. */
export const DEFAULT_INPUT_TOKENS = 1_000_000;
export const DEFAULT_OUTPUT_TOKENS = 64_000;

/** A model of the settings: its entry in the picker, and the definition that its requests carry. */
export interface ConfiguredModel {
  information: ModelInformation;
  agent: Record<string, unknown>;
  settings: Record<string, unknown>;
  /** Whether its entry says how many tokens of input it takes. */
  hasLimit: boolean;
}

export interface ConfiguredModels {
  models: ConfiguredModel[];
  /** Ids that are switched off, also of models that the program offers. */
  hidden: string[];
  faults: string[];
}

type Entry = Record<string, unknown>;

const KINDS = ["eliza", "acp", "mcp_server", "open_responses"];

/** Read the setting. `defaults` are the settings of every conversation; those of an entry win. */
export function readAgents(
  setting: unknown,
  defaults: Record<string, unknown>,
  variables: Variables,
): ConfiguredModels {
  const read: ConfiguredModels = { models: [], hidden: [], faults: [] };
  if (!isObject(setting)) {
    read.faults.push("`vscodelm.agents` must be an object of agents by their ids.");
    return read;
  }
  for (const [id, entry] of Object.entries(setting)) {
    if (entry === null || (isObject(entry) && entry.enabled === false)) {
      read.hidden.push(id);
      continue;
    }
    try {
      read.models.push(readEntry(id, entry, defaults, variables));
    } catch (error) {
      read.faults.push(`\`vscodelm.agents\`, "${id}": ${(error as Error).message}`);
    }
  }
  return read;
}

function readEntry(
  id: string,
  entry: unknown,
  defaults: Record<string, unknown>,
  variables: Variables,
): ConfiguredModel {
  if (!isObject(entry)) {
    throw new Error("it must be an object.");
  }
  const agent = fillIn(readAgent(id, entry), variables);
  const isEliza = "eliza" in agent;
  const name = text(entry.name) ?? knownName(entry) ?? (isEliza ? "Eliza" : id);
  const tooltip = text(entry.tooltip);
  const detail = text(entry.detail);
  return {
    information: {
      id,
      name,
      family: text(entry.family) ?? id,
      version: text(entry.version) ?? "1",
      maxInputTokens: tokens(entry.maxInputTokens) ?? DEFAULT_INPUT_TOKENS,
      maxOutputTokens: tokens(entry.maxOutputTokens) ?? DEFAULT_OUTPUT_TOKENS,
      ...(tooltip === undefined ? {} : { tooltip }),
      ...(detail === undefined ? {} : { detail }),
      capabilities: {
        toolCalling: entry.toolCalling !== false,
        imageInput: typeof entry.imageInput === "boolean" ? entry.imageInput : !isEliza,
      },
    },
    agent,
    hasLimit: tokens(entry.maxInputTokens) !== undefined,
    settings: { ...defaults, ...(isObject(entry.settings) ? entry.settings : {}) },
  };
}

function readAgent(id: string, entry: Entry): Record<string, unknown> {
  if (typeof entry.registry === "string") {
    if (entry.agent !== undefined) {
      throw new Error("it has both `registry` and `agent`; remove one of them.");
    }
    const known = findAgent(entry.registry);
    if (known === undefined) {
      const ids = KNOWN_AGENTS.map((agent) => agent.id).join(", ");
      throw new Error(
        `there is no ready entry for "${entry.registry}". There are: ${ids}. ` +
          "Any other agent is added with `agent` and its command.",
      );
    }
    const env = isObject(entry.env) ? entry.env : {};
    const keys = usualKeys(known, env).map((name) => [name, `\${secret:${name}}`]);
    const args = [...known.args, ...(Array.isArray(entry.args) ? entry.args : [])];
    return {
      acp: {
        name: known.name,
        command: known.command,
        args,
        env: variablesList({ ...Object.fromEntries(keys), ...env }),
      },
    };
  }
  const { agent } = entry;
  if (!isObject(agent)) {
    throw new Error("it needs `registry` or `agent`.");
  }
  const kinds = Object.keys(agent);
  const kind = kinds[0];
  if (kinds.length !== 1 || kind === undefined || !KINDS.includes(kind)) {
    throw new Error(`\`agent\` must be exactly one of ${KINDS.join(", ")}.`);
  }
  const definition = agent[kind];
  if (!isObject(definition)) {
    throw new Error(`\`agent.${kind}\` must be an object.`);
  }
  if (kind === "acp" || kind === "mcp_server") {
    if (text(definition.command) === undefined) {
      throw new Error(`\`agent.${kind}\` needs a \`command\`.`);
    }
    const env = isObject(definition.env) ? variablesList(definition.env) : definition.env;
    return { [kind]: { name: id, ...definition, ...(env === undefined ? {} : { env }) } };
  }
  return { [kind]: definition };
}

/** Return the variables of the keys that an agent of the registry is given; one with a key of its own, none. */
export function usualKeys(known: KnownAgent, env: Entry): readonly string[] {
  return known.secrets.some((name) => name in env) ? [] : known.secrets;
}

/** Return the variables of the keys that an entry refers to. */
export function keysOf(entry: unknown): string[] {
  if (!isObject(entry)) {
    return [];
  }
  const referred = [...JSON.stringify(entry).matchAll(/\$\{secret:([^}"$]+)\}/g)].map(
    ([, name]) => name,
  );
  const known = typeof entry.registry === "string" ? findAgent(entry.registry) : undefined;
  const usual = known ? usualKeys(known, isObject(entry.env) ? entry.env : {}) : [];
  const endpoint = isObject(entry.agent) ? entry.agent.open_responses : undefined;
  const named = isObject(endpoint) ? text(endpoint.apiKeyEnv) : undefined;
  return [...new Set([...referred, ...usual, named].filter((name) => name !== undefined))];
}

function knownName(entry: Entry): string | undefined {
  return typeof entry.registry === "string" ? findAgent(entry.registry)?.name : undefined;
}

function variablesList(env: Record<string, unknown>): { name: string; value: string }[] {
  return Object.entries(env).map(([name, value]) => ({ name, value: String(value) }));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

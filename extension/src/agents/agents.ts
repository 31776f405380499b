// The setting `vscodelm.agents` as it is sent to the program, which reads it and says what is wrong.

import { isObject } from "../json.ts";
import type { ModelInformation } from "../program/wire.ts";
import { findAgent } from "./known_agents.ts";
import { fillIn, type Variables } from "./variables.ts";

export type AgentKind = "acp" | "mcp_server" | "open_responses" | "eliza";

/** A model of the settings. All of it is as its user wrote it, with the variables filled in. */
export interface ConfiguredModel {
  id: string;
  /** The definition that its requests carry; a wrong one can be any JSON. */
  agent: unknown;
  settings: unknown;
  /** Its name, its limits and the like. */
  shown: Record<string, unknown>;
}

export interface ConfiguredModels {
  models: ConfiguredModel[];
  /** Ids that are switched off, also of models that the program offers. */
  hidden: string[];
}

/** Return the models. `defaults` are the settings of every conversation; those of an entry win. */
export function readAgents(
  setting: Record<string, unknown>,
  defaults: Record<string, unknown>,
  variables: Variables,
): ConfiguredModels {
  const entries = Object.entries(setting);
  const isHidden = (entry: unknown) =>
    entry === null || (isObject(entry) && entry.enabled === false);
  return {
    models: entries
      .filter(([, entry]) => !isHidden(entry))
      .map(([id, entry]) => ({ id, ...fillIn(partsOf(entry, defaults), variables) })),
    hidden: entries.filter(([, entry]) => isHidden(entry)).map(([id]) => id),
  };
}

function partsOf(entry: unknown, defaults: Record<string, unknown>): Omit<ConfiguredModel, "id"> {
  if (!isObject(entry)) {
    return { agent: entry, settings: defaults, shown: {} };
  }
  const { registry, args, env, agent = {}, settings = {}, enabled, ...shown } = entry;
  const ready = {
    registry,
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
  };
  return {
    agent: registry === undefined ? agent : { ...(isObject(agent) ? agent : {}), ...ready },
    settings: isObject(settings) ? merged(defaults, settings) : settings,
    shown,
  };
}

/** Return the settings of an entry: what it leaves open is as in `defaults`, also within `tools`. */
function merged(
  defaults: Record<string, unknown>,
  settings: Record<string, unknown>,
): Record<string, unknown> {
  const both = { ...defaults, ...settings };
  return isObject(defaults.tools) && isObject(settings.tools)
    ? { ...both, tools: { ...defaults.tools, ...settings.tools } }
    : both;
}

/** Return the kind of a model's agent, undefined if it is none that is known. */
export function kindOf({ agent }: ConfiguredModel): AgentKind | undefined {
  if (!isObject(agent)) {
    return undefined;
  }
  return "registry" in agent ? "acp" : (Object.keys(agent)[0] as AgentKind | undefined);
}

/** Return what the picker shows of a model until the program has answered. */
export function provisional(model: ConfiguredModel): ModelInformation {
  const { id, agent, shown } = model;
  const known = isObject(agent) ? findAgent(agent.registry) : undefined;
  const isEliza = kindOf(model) === "eliza";
  const name = typeof shown.name === "string" && shown.name !== "" ? shown.name : undefined;
  return {
    id,
    name: name ?? known?.name ?? (isEliza ? "Eliza" : id),
    family: id,
    version: "1",
    maxInputTokens: 1_000_000,
    maxOutputTokens: 64_000,
    capabilities: { toolCalling: true, imageInput: !isEliza },
  };
}

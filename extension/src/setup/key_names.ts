// vscodelm gives a key only to the agents whose definition names it. So when a user sets one for an agent,
// the agent's entry in the settings must name it, too.

import { findAgent, type KnownAgent } from "../agents/known_agents.ts";
import { isObject } from "../json.ts";
import { ownAgents, writeAgents } from "./own_settings.ts";

type Entry = Record<string, unknown>;

/** Return the variables of the keys that an agent of the registry is given; one with a key of its own, none. */
function usualKeys(known: KnownAgent, env: Entry): readonly string[] {
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
  const known = findAgent(entry.registry);
  const usual = known ? usualKeys(known, isObject(entry.env) ? entry.env : {}) : [];
  const endpoint = isObject(entry.agent) ? entry.agent.open_responses : undefined;
  const named = isObject(endpoint) ? endpoint.apiKeyEnv : undefined;
  const all = [...referred, ...usual, named];
  return [
    ...new Set(all.filter((name): name is string => typeof name === "string" && name !== "")),
  ];
}

/** Return the entry with the key among its variables, undefined if it needs no change. */
export function withKey(entry: unknown, variable: string): Entry | undefined {
  if (!isObject(entry)) {
    return undefined;
  }
  const reference = `\${secret:${variable}}`;
  if (typeof entry.registry === "string") {
    const env = isObject(entry.env) ? entry.env : {};
    const known = findAgent(entry.registry);
    const given = [...(known ? usualKeys(known, env) : []), ...Object.keys(env)];
    return given.includes(variable)
      ? undefined
      : { ...entry, env: { ...env, [variable]: reference } };
  }
  const agent = isObject(entry.agent) ? entry.agent : {};
  const kind = ["acp", "mcp_server"].find((name) => isObject(agent[name]));
  if (kind === undefined) {
    return undefined; // an endpoint names its key itself, and Eliza needs none
  }
  const definition = agent[kind] as Entry;
  const env = withVariable(definition.env, variable, reference);
  return env && { ...entry, agent: { ...agent, [kind]: { ...definition, env } } };
}

/** Return the name under which a model's key is kept: an entry may refer to one of its own. */
export function keptAs(modelId: string, variable: string): string {
  const entry = ownAgents()[modelId];
  const agent = isObject(entry) && isObject(entry.agent) ? entry.agent : {};
  const { env } =
    [entry, agent.acp, agent.mcp_server].filter(isObject).find((one) => one.env) ?? {};
  const value = Array.isArray(env)
    ? env.find((one) => one?.name === variable)?.value
    : isObject(env) && env[variable];
  const [, name] = (typeof value === "string" && REFERENCE.exec(value)) || [];
  return name ?? variable;
}

/** A value that is a secret, and nothing beside it. */
const REFERENCE = /^\$\{secret:([^}]+)\}$/;

function withVariable(env: unknown, name: string, value: string): object | undefined {
  if (Array.isArray(env)) {
    return env.some((one) => one?.name === name) ? undefined : [...env, { name, value }];
  }
  const variables = isObject(env) ? env : {};
  return name in variables ? undefined : { ...variables, [name]: value };
}

/** Change the settings so that a model's agent is given a key. */
export async function nameKey(modelId: string, variable: string): Promise<void> {
  const own = ownAgents();
  const entry = withKey(own[modelId], variable);
  if (entry !== undefined) {
    await writeAgents({ ...own, [modelId]: entry });
  }
}

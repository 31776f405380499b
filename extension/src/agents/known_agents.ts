// Agents and endpoints that are ready to be added. The ids are those of the registry of ACP agents. The
// versions are those that vscodelm is tested with: the list is shared with the command line and the tests.

import readyAgents from "../../../agents/acp/launch/ready_agents.json" with { type: "json" };

export interface KnownAgent {
  id: string;
  name: string;
  description: string;
  /** The ids that it had before. */
  formerly?: string[];
  /** The secrets that it may have, each in the variable of its name. */
  secrets: string[];
}

export interface KnownEndpoint {
  id: string;
  name: string;
  description: string;
  baseUrl: string;
  /** The environment variable that holds its key; undefined where none is needed. */
  apiKeyEnv?: string;
  /** An example of the names that its models have. */
  example: string;
}

export const KNOWN_AGENTS: readonly KnownAgent[] = readyAgents;

export const KNOWN_ENDPOINTS: readonly KnownEndpoint[] = [
  {
    id: "openai",
    name: "OpenAI",
    description: "api.openai.com",
    baseUrl: "https://api.openai.com/v1",
    apiKeyEnv: "OPENAI_API_KEY",
    example: "gpt-5.4",
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    description: "openrouter.ai",
    baseUrl: "https://openrouter.ai/api/v1",
    apiKeyEnv: "OPENROUTER_API_KEY",
    example: "anthropic/claude-sonnet-4.5",
  },
  {
    id: "huggingface",
    name: "Hugging Face",
    description: "Inference Providers",
    baseUrl: "https://router.huggingface.co/v1",
    apiKeyEnv: "HF_TOKEN",
    example: "openai/gpt-oss-120b",
  },
  {
    id: "ollama",
    name: "Ollama",
    description: "on this machine",
    baseUrl: "http://127.0.0.1:11434/v1",
    example: "gpt-oss:20b",
  },
  {
    id: "lmstudio",
    name: "LM Studio",
    description: "on this machine",
    baseUrl: "http://127.0.0.1:1234/v1",
    example: "openai/gpt-oss-20b",
  },
  {
    id: "vllm",
    name: "vLLM",
    description: "on this machine",
    baseUrl: "http://127.0.0.1:8000/v1",
    example: "openai/gpt-oss-20b",
  },
];

/** Return the agent of an id, which may be a former one. */
export function findAgent(id: unknown): KnownAgent | undefined {
  return KNOWN_AGENTS.find((agent) => agent.id === id || agent.formerly?.some((old) => old === id));
}

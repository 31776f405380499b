// Agents and endpoints that are ready to be added. The ids are those of the registry of ACP agents, and
// the versions are pinned as there: what runs is what was chosen, not what was published last night.

export interface KnownAgent {
  id: string;
  name: string;
  description: string;
  command: string;
  args: string[];
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

export const KNOWN_AGENTS: readonly KnownAgent[] = [
  npx(
    "claude-acp",
    "Claude Code",
    "Anthropic's coding agent",
    ["@agentclientprotocol/claude-agent-acp@0.100.0"],
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  ),
  npx(
    "codex-acp",
    "Codex",
    "OpenAI's coding agent",
    ["@agentclientprotocol/codex-acp@2.6.0"],
    ["CODEX_API_KEY", "OPENAI_API_KEY"],
  ),
  npx(
    "gemini",
    "Gemini CLI",
    "Google's coding agent",
    ["@google/gemini-cli@0.61.0", "--acp"],
    ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  ),
  npx("opencode", "OpenCode", "The open source coding agent", ["opencode-ai@1.18.33", "acp"]),
  npx(
    "github-copilot-cli",
    "GitHub Copilot CLI",
    "GitHub's coding agent",
    ["@github/copilot@1.0.102", "--acp"],
    ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
  ),
  npx(
    "qwen-code",
    "Qwen Code",
    "Alibaba's coding agent",
    ["@qwen-code/qwen-code@0.24.4", "--acp"],
    ["DASHSCOPE_API_KEY"],
  ),
];

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

/** Ids that agents had before. */
const RENAMED: Record<string, string> = { "claude-code-acp": "claude-acp" };

export function findAgent(id: string): KnownAgent | undefined {
  const newer = RENAMED[id] ?? id;
  return KNOWN_AGENTS.find((agent) => agent.id === newer);
}

function npx(
  id: string,
  name: string,
  description: string,
  args: string[],
  secrets: string[] = [],
): KnownAgent {
  return { id, name, description, command: "npx", args: ["-y", ...args], secrets };
}

// The shapes of the `lm/*` wire, as far as the extension speaks it (docs/reference/wire.md).

export const INITIALIZE = "lm/initialize";
export const MODELS = "lm/provideLanguageModelChatInformation";
export const CHAT = "lm/provideLanguageModelChatResponse";
export const STATS = "lm/stats";
export const LOG_IN = "lm/logIn";
export const LOG_OUT = "lm/logOut";
export const CANCEL = "lm/cancel";
export const RESPONSE_PART = "lm/responsePart";
export const PROGRESS = "lm/progress";
export const CANCEL_PROGRESS = "lm/cancelProgress";
export const MODELS_CHANGED = "lm/didChangeLanguageModelChatInformation";

/** The host's tool through which an agent's permission requests reach the user. */
export const PERMISSION_TOOL = "symposium-agent-action";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface TextPart {
  type: "text";
  value: string;
}

export interface ToolCallPart {
  type: "tool_call";
  toolCallId: string;
  toolName: string;
  parameters: unknown;
}

export interface ToolResultPart {
  type: "tool_result";
  toolCallId: string;
  result: unknown;
  isError?: boolean;
}

export interface ThinkingPart {
  type: "thinking";
  value: string | string[];
  id?: string | null;
  metadata?: unknown;
}

export interface DataPart {
  type: "data";
  mimeType: string;
  data: string;
}

/** A part of a kind that this version doesn't know, as it came. */
export interface UnknownPart {
  type: string;
  [key: string]: unknown;
}

export type KnownPart = TextPart | ToolCallPart | ToolResultPart | ThinkingPart | DataPart;
export type Part = KnownPart | UnknownPart;

export interface Message {
  role: "user" | "assistant" | "system";
  name?: string;
  content: Part[];
}

export interface Tool {
  name: string;
  description: string;
  inputSchema?: object;
}

/** What the user allows an agent without a question. */
export interface Allowed {
  kind: string;
  action?: string;
}

export interface ChatOptions {
  tools?: Tool[];
  toolMode: "auto" | "required";
  modelOptions?: object;
  modelConfiguration?: object;
  requestInitiator?: string;
  allowed?: Allowed[];
}

export interface ChatParams {
  modelId: string;
  messages: Message[];
  agent?: object;
  options: ChatOptions;
  settings?: object;
}

/** Which agent is to log in, by `methodId`, or to log out. */
export interface AccountParams {
  modelId: string;
  agent?: object;
  methodId?: string;
}

export interface ModelInformation {
  id: string;
  name: string;
  family: string;
  version: string;
  maxInputTokens: number;
  maxOutputTokens: number;
  tooltip?: string;
  detail?: string;
  capabilities: { toolCalling?: boolean; imageInput?: boolean };
}

export interface Capabilities {
  thinking: boolean;
  data: boolean;
  usage: boolean;
  marker: boolean;
  progress: boolean;
}

/** How far something is that takes long, such as a download. */
export interface ProgressParams {
  token: number;
  title: string;
  message: string;
  isOver: boolean;
}

export interface InitializeResult {
  serverInfo: { name: string; version: string };
}

/** A process of an agent's, together with its children, as far as they can be read. */
export interface AgentProcess {
  agent: string;
  pid: number;
  processes?: number;
  memoryBytes?: number;
}

/** Counters since the process began; the last four are of this moment. */
export interface Stats {
  requestsByClass: Record<string, number>;
  matchesByRule: Record<string, number>;
  missesByReason: Record<string, number>;
  liveConversations: number;
  sessions: number;
  processes: number;
  agentProcesses?: AgentProcess[];
}

export type FailureKind =
  | "NoPermissions"
  | "Blocked"
  | "NotFound"
  | "AgentFailed"
  | "Unavailable"
  | "Internal";

/** The `data` of a failed request's error. */
export interface FailureData {
  kind: FailureKind;
  detail: string;
  stderrTail?: string;
  /** What the user can do: `fixesIn` reads it. */
  fixes?: unknown;
}

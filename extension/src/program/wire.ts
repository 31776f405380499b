// The shapes of the `lm/*` wire, as far as the extension speaks it (docs/reference/wire.md).

export const INITIALIZE = "lm/initialize";
export const MODELS = "lm/provideLanguageModelChatInformation";
export const CHAT = "lm/provideLanguageModelChatResponse";
export const STATS = "lm/stats";
export const INSPECT = "lm/inspect";
export const LOG_IN = "lm/logIn";
export const LOG_OUT = "lm/logOut";
export const AGENT_SESSIONS = "lm/agentSessions";
export const CANCEL = "lm/cancel";
export const RESPONSE_PART = "lm/responsePart";
export const RESPONSE_COMPLETE = "lm/responseComplete";
export const ELICIT = "lm/elicit";
export const READ_TEXT_FILE = "lm/readTextFile";
export const WATCH_FILES = "lm/watchFiles";
export const CHANGED_FILES = "lm/changedFiles";
export const PROGRESS = "lm/progress";
export const CANCEL_PROGRESS = "lm/cancelProgress";
export const FOLDERS_CHANGED = "lm/didChangeWorkspaceFolders";
export const MCP_SERVERS_CHANGED = "lm/didChangeMcpServers";
export const MODELS_CHANGED = "lm/didChangeLanguageModelChatInformation";

/** The host's tool through which an agent's permission requests reach the user. */
export const PERMISSION_TOOL = "symposium-agent-action";
/** Its names: chats may still hold calls by its former one. */
const PERMISSION_TOOLS: readonly unknown[] = [PERMISSION_TOOL, "agentAction"];

/** Return whether this is the name of the tool that asks the user. */
export function isPermissionTool(name: unknown): boolean {
  return PERMISSION_TOOLS.includes(name);
}

/** The host's tool whose call ends a response, so that it is shown while the agent works on. */
export const PROGRESS_TOOL = "vscodelm-progress";

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

/** A rule: an action that the user allows an agent without a question. */
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
  agent?: unknown;
  options: ChatOptions;
  settings?: unknown;
}

/** Which agent is to log in, by `methodId`, or to log out. */
export interface AccountParams {
  modelId: string;
  agent?: unknown;
  methodId?: string;
}

/** Of which agent the sessions are to be listed. */
export interface SessionsParams {
  modelId: string;
  agent?: unknown;
}

/** A session that an agent keeps. */
export interface ListedSession {
  sessionId: string;
  cwd: string;
  title?: string;
  updatedAt?: string;
}

export interface ModelInformation {
  id: string;
  name: string;
  family: string;
  version: string;
  maxInputTokens: number;
  maxOutputTokens: number;
  /** The size of an agent's own context. VS Code shows how full the context is by it. */
  maxContextWindowTokens?: number;
  tooltip?: string;
  detail?: string;
  capabilities: { toolCalling?: boolean; imageInput?: boolean };
  /** The choices in the picker, as JSON schema. */
  configurationSchema?: object;
}

/** The client's own models by their ids, as the settings have them. */
export interface ModelsParams {
  silent: boolean;
  agents: Record<string, unknown>;
  settings: Record<string, unknown>;
  information: Record<string, object>;
}

/** What the program says: all models, and by ids of the client's why one isn't among them. */
export interface ModelsResult {
  models?: unknown;
  faults?: unknown;
}

export interface Capabilities {
  thinking: boolean;
  data: boolean;
  usage: boolean;
  marker: boolean;
  progress: boolean;
  elicit: boolean;
  readTextFile: boolean;
  changes: boolean;
  changedFiles: boolean;
}

/** The text of the open buffer, or else of the file on the disk; null if there is no file. */
export interface ReadTextFileResult {
  text: string | null;
  /** Whether the buffer has changes that aren't saved. */
  isDirty: boolean;
}

/** The files that have changed since a watch began: absolute paths, and the number of others. */
export interface WatchedFiles {
  paths: string[];
  more: number;
}

/** The introduction of a client. */
export interface InitializeParams {
  clientInfo: { name: string; version: string };
  capabilities: Capabilities;
  /** Absolute paths. */
  workspaceFolders: string[];
  /** Those that agents are given. */
  mcpServers?: McpServer[];
}

export interface NamedValue {
  name: string;
  value: string;
}

/** An MCP server of the user's. `secrets` are texts in it that no log may show. */
export type McpServer = (
  | { command: string; args: string[]; env: NamedValue[] }
  | { type: "http" | "sse"; url: string; headers: NamedValue[] }
) & { name: string; secrets?: string[] };

/** A question of an agent while it answers: a form, or a page to open. Anything may be in it. */
export interface ElicitParams {
  /** The open request for a chat's answer. */
  requestId: number;
  message?: unknown;
  requestedSchema?: unknown;
  url?: unknown;
}

/** The values of a form by the names of its fields. */
export type ElicitContent = Record<string, string | number | boolean | string[]>;

/** The answer: `decline` means that the user refused, `cancel` that the user made no choice. */
export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  content?: ElicitContent;
}

/** The progress of a long operation, such as a download. */
export interface ProgressParams {
  token: number;
  title: string;
  message: string;
  isOver: boolean;
}

/** A file that an agent has changed by itself. */
export interface ChangedFile {
  path: string;
  /** Its text before the turn: null for a new file, absent if it isn't known. */
  before?: string | null;
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

/** Where the newest main request came from. */
export interface NewestRequest {
  harness: string;
  offersProgress: boolean;
}

/** A slash command of an agent; `hint` says what to type after it. */
export interface AgentCommand {
  name: string;
  description: string;
  hint: string;
}

export interface Cost {
  amount: number;
  currency: string;
}

/** An open session of an ACP agent, as far as the agent describes it. */
export interface SessionUsage {
  agent: string;
  turns: number;
  title?: string;
  usedTokens?: number;
  contextWindow?: number;
  promptTokens?: number;
  completionTokens?: number;
  cost?: Cost;
  commands?: AgentCommand[];
}

/** Counters since the process began; those from `liveConversations` on are of this moment. */
export interface Stats {
  requestsByClass: Record<string, number>;
  /** The main requests alone. */
  requestsByHarness: Record<string, number>;
  matchesByRule: Record<string, number>;
  missesByReason: Record<string, number>;
  liveConversations: number;
  sessions: number;
  processes: number;
  newestRequest?: NewestRequest;
  agentProcesses?: AgentProcess[];
  /** The most recently used is last. */
  agentSessions?: SessionUsage[];
}

/** A request of a chat, where it went and why, as far as a report tells of it. The page draws more. */
export interface InspectedRequest {
  event: "request";
  request: number | string;
  conversation: number;
  model: string;
  requestClass: string;
  facts: { name: string; text: string }[];
  ending: string;
  failure?: string;
  at?: number;
}

export type InspectedEvent =
  | InspectedRequest
  | { event: "refusal"; request: number | string; why: string; at?: number }
  | { event: "end"; conversation: number; why: string; at?: number };

export interface InspectResult {
  events: InspectedEvent[];
  leftOut?: number;
  /** The page that draws the events, if it was asked for. */
  page?: string;
}

export type FailureKind =
  | "NoPermissions"
  | "Blocked"
  | "NotFound"
  | "AgentFailed"
  | "Unavailable"
  | "Internal";

export interface ResponseCompleteParams {
  requestId: number;
  /** The failure that the answer tells in words. */
  failure?: ToldFailure;
}

export interface ToldFailure extends FailureData {
  message: string;
}

/** The `data` of a failed request's error. */
export interface FailureData {
  kind: FailureKind;
  detail: string;
  stderrTail?: string;
  /** The remedies that the user has; `fixesIn` reads them. */
  fixes?: unknown;
}

"""The shapes of the `lm/*` wire, as types (reference: docs/reference/wire.md, generated from here).

Field names are snake_case here and camelCase on the wire. Unknown fields are ignored by msgspec;
unknown kinds of part are carried as `UnknownPart` (see `bridge.history.transcript`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, TypeAlias, dataclass_transform

import msgspec
from msgspec import UNSET, Raw, UnsetType

RequestId: TypeAlias = int | str
Role: TypeAlias = Literal["user", "assistant", "system"]

PERMISSION_TOOL = "symposium-agent-action"
"""The host's tool through which an agent's permission requests reach the user."""
PERMISSION_TOOLS = (PERMISSION_TOOL, "agentAction")
"""Its names. VS Code's Agent Host calls a tool by its reference name, which was the second one."""

PROGRESS_TOOL = "vscodelm-progress"
"""Our tool that VS Code's Agent Host calls, so that it shows the answer so far."""

CHANGES_MIME_TYPE = "application/vnd.vscodelm.changes+json"
"""The kind of data that names the files which an agent has changed by itself in a turn."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Wire(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """Base of everything that travels: frozen, camelCase, defaults left out."""


# Parts of a message, and of a response.


class TextPart(Wire, tag_field="type", tag="text"):
    """Text, as Markdown."""

    value: str


class OwnTextPart(TextPart, tag="text"):
    """Text in an answer that isn't the agent's own text: ours, or shown in place of another kind.

    It travels as text. The record knows it from the rest, and leaves it out of replays.
    """


class ToolCallPart(Wire, tag_field="type", tag="tool_call"):
    """A call of one of the host's tools; `parameters` is a JSON object."""

    tool_call_id: str
    tool_name: str
    parameters: Any


class ToolResultPart(Wire, tag_field="type", tag="tool_result"):
    """The answer to a tool call; `result` is any JSON, VS Code sends a list of parts."""

    tool_call_id: str
    result: Any = None
    is_error: bool = False


class ThinkingPart(Wire, tag_field="type", tag="thinking"):
    """Reasoning shown apart from the answer."""

    value: str | list[str]
    id: str | None = None
    metadata: Any = None


class DataPart(Wire, tag_field="type", tag="data"):
    """Bytes of a MIME type: an image, or one of the host's private kinds; base64 on the wire."""

    mime_type: str
    data: bytes


class UnknownPart(Wire):
    """A part of a kind that this version doesn't know, carried as it came."""

    kind: str
    json: bytes


KnownPart: TypeAlias = TextPart | ToolCallPart | ToolResultPart | ThinkingPart | DataPart
Part: TypeAlias = KnownPart | UnknownPart


class _PartKind(msgspec.Struct):
    type: str


_decode_kind = msgspec.json.Decoder(_PartKind).decode
_known_part_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(KnownPart)
_KNOWN_KINDS = frozenset({"text", "tool_call", "tool_result", "thinking", "data"})


def decode_part(raw: bytes | Raw) -> Part:
    """Read a part, known or not; raises `msgspec.DecodeError` or `UnicodeDecodeError`."""
    kind = _decode_kind(raw).type
    if kind not in _KNOWN_KINDS:
        return UnknownPart(kind, bytes(raw))
    return _known_part_decoder.decode(raw)


def joined_text(parts: Iterable[Part]) -> str:
    """Join the text parts, and leave out all others."""
    return "".join(part.value for part in parts if isinstance(part, TextPart))


class ChatMessage(Wire):
    """A message as the host sent it, whole."""

    role: Role
    content: tuple[Part, ...]
    name: str | None = None

    @property
    def text(self) -> str:
        """Its text parts, joined."""
        return joined_text(self.content)


# The agent that answers, and its settings.


class ElizaSpec(Wire):
    """The built-in Eliza; `deterministic` takes chance out of her choice of words."""

    deterministic: bool = False


class EnvVariable(Wire):
    """One environment variable of an agent process."""

    name: str
    value: str


class McpServerSpec(Wire):
    """An ACP agent to spawn: an argv, never a shell line; `cwd` defaults to our own."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[EnvVariable, ...] = ()
    cwd: str | None = None


class McpHeader(Wire):
    """A header of each request to an MCP server."""

    name: str
    value: str


class UserMcpServer(Wire):
    """An MCP server of the user's for agents: `command` is started, or `url` is called.

    No log shows its arguments, its address, or the values of its variables and headers.
    `secrets` are texts in them that the user typed.
    """

    name: str
    type: Literal["stdio", "http", "sse"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[EnvVariable, ...] = ()
    url: str = ""
    headers: tuple[McpHeader, ...] = ()
    secrets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("`name` is empty")
        if self.type == "stdio" and not self.command:
            raise ValueError("a server of the type `stdio` needs a `command`")
        if self.type != "stdio" and not _is_address(self.url):
            raise ValueError(
                f"a server of the type `{self.type}` needs an http(s) address as `url`"
            )


NOT_IN_ADDRESSES = re.compile(r"[\x00-\x20\x7f]")
"""A blank or a control character, which no address may hold."""
_ADDRESS = re.compile(r"https?://([^/?#\[\]]+|[^/?#]*\[[0-9A-Fa-f:.]+\](:\d*)?)([/?#]|$)")


def _is_address(text: str) -> bool:
    from urllib.parse import urlsplit  # here, because only an endpoint needs it

    try:
        port = urlsplit(text).port
    except ValueError:
        return False
    return bool(_ADDRESS.match(text)) and port != 0 and not NOT_IN_ADDRESSES.search(text)


class OpenResponsesSpec(Wire):
    """An Open Responses endpoint; keys that aren't here go into each request's body as they are.

    The key is in the environment variable that `apiKeyEnv` names, or in `headers`. `stateful` lets
    a request name the response that it goes on from, where the server keeps responses. The last
    five say how messages are written down, for servers that don't take everything.
    """

    base_url: str
    model: str
    api_key_env: str | None = None
    headers: dict[str, str] = {}
    store: bool | None = None
    stateful: bool = True
    reasoning: dict[str, Any] = {}
    include: tuple[str, ...] = ()
    max_output_tokens: int | None = None
    connect_seconds: float = 10.0
    idle_seconds: float = 300.0
    retries: int = 3
    annotations: Literal["inline", "end", "none"] = "inline"
    system_messages: Literal["instructions", "developer", "system"] = "instructions"
    image_in_non_user_message: Literal["placeholder", "skip", "error"] = "placeholder"
    result_images: Literal["result", "message"] = "result"
    call_order: Literal["grouped", "interleaved"] = "grouped"

    def __post_init__(self) -> None:
        if not _is_address(self.base_url):
            raise ValueError("baseUrl must be an address that begins with http:// or https://")
        if self.max_output_tokens is not None and self.max_output_tokens < 16:
            raise ValueError("maxOutputTokens must be at least 16")
        if not (self.connect_seconds > 0 and self.idle_seconds > 0):
            raise ValueError("connectSeconds and idleSeconds must be more than 0")
        if self.retries < 0:
            raise ValueError("retries can't be less than 0")


class ReadyAgentSpec(Wire):
    """An agent that vscodelm is tested with, by its id in the registry of ACP agents.

    It stands where an `AgentSpec` may, and means the `acp` agent that npx starts in the version
    that was tested. `args` are added to the agent's own. `env` may be an object of values by their
    names. Unless it has one of the agent's keys, the agent gets those that the editor keeps.
    """

    registry: str
    args: tuple[str, ...] = ()
    env: tuple[EnvVariable, ...] | dict[str, str] = ()


class AgentSpec(Wire, rename=None):
    """The agent that answers: exactly one of the kinds; `acp` is an alias of `mcp_server`.

    In a request, `env` of a command may also be an object of values by their names, and a missing
    `name` is the id of the model. A `ReadyAgentSpec` may stand for the whole.
    """

    eliza: ElizaSpec | UnsetType = UNSET
    mcp_server: McpServerSpec | UnsetType = UNSET
    acp: McpServerSpec | UnsetType = UNSET
    open_responses: OpenResponsesSpec | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = [kind for kind in self.__struct_fields__ if getattr(self, kind) is not UNSET]
        if len(given) != 1:
            raise ValueError(
                "an agent is exactly one of `eliza`, `mcp_server` (or `acp`), `open_responses`; "
                f"got {', '.join(given) or 'none of them'}"
            )

    @property
    def definition(self) -> ElizaSpec | McpServerSpec | OpenResponsesSpec:
        """The one kind that is given."""
        given = (self.eliza, self.mcp_server, self.acp, self.open_responses)
        return next(one for one in given if not isinstance(one, UnsetType))


class ToolFilter(Wire):
    """A filter of the host's tools for an agent, by globs.

    With `duplicates: "leave_out"` an ACP agent isn't offered the host's tools for work that it does
    itself, such as reading files. A tool whose exact name is in `include` is offered nevertheless.
    """

    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    duplicates: Literal["offer", "leave_out"] = "offer"

    def allows(self, tool: str) -> bool:
        """Match the name of a tool against both lists."""
        return passes(tool, self.include, self.exclude)


def passes(name: str, include: Iterable[str], exclude: Iterable[str]) -> bool:
    """Return whether a glob of `include` matches the name, and none of `exclude`."""
    return any(fnmatchcase(name, glob) for glob in include) and not any(
        fnmatchcase(name, glob) for glob in exclude
    )


Permissions: TypeAlias = Literal["ask", "read_only", "allow", "deny"]
ThinkingMode: TypeAlias = Literal["part", "text", "hide"]


EditsBy: TypeAlias = Literal["editor", "agent"]
"""An agent's edits are made by the editor's own tools, or by the agent behind its back."""


class Settings(Wire):
    """The settings of a conversation.

    Each key has a default. The newest values apply from the next turn.

    `model` and `mode` name a choice that the agent offers, by id or by name. None leaves them as
    they are, with one exception: a known mode in which the agent decides by itself is changed to
    one in which it asks, unless `permissions` is "allow". With "read_only" and "deny" such a mode
    isn't chosen, whether it stands here or in a request's `modelConfiguration`.

    `edits` names the side that makes an agent's edits: the "editor", which can show, keep and undo
    them, or the "agent". None means the editor for agents that are known to work with that, else
    the agent.

    `permissionChoices` are the values of `permissions` that a user may choose in the host's picker.
    """

    context: Literal["request", "full"] | None = None
    model: str | None = None
    mode: str | None = None
    tools: ToolFilter = ToolFilter()
    edits: EditsBy | None = None
    permissions: Permissions = "ask"
    permission_choices: tuple[Permissions, ...] = ("ask", "read_only")
    thinking: ThinkingMode = "part"
    rewind: Literal["auto", "continue"] = "auto"
    idle_seconds: float = 1800.0
    max_sessions: int = 100

    def __post_init__(self) -> None:
        if not self.idle_seconds > 0:
            raise ValueError("idleSeconds must be more than 0")
        if self.max_sessions < 1:
            raise ValueError("maxSessions must be at least 1")


class ToolSpec(Wire):
    """A tool of the host's: name, description, JSON schema of its input."""

    name: str
    description: str = ""
    input_schema: Raw | UnsetType = UNSET


class Allowed(Wire):
    """A rule: the user allows an agent a kind of action, or one action, without a question."""

    kind: str
    action: str | None = None
    """As the question named the action; None: every action of the kind."""


class ChatOptions(Wire):
    """The options of a request; `toolMode` 1 is "auto", 2 is "required".

    `allowed` is what the user allows this agent under `permissions: "ask"`. `modelConfiguration`
    has the user's choices by the keys of the model's `configurationSchema`.
    """

    tools: tuple[ToolSpec, ...] = ()
    tool_mode: Literal["auto", "required", 1, 2] = "auto"
    model_options: dict[str, Any] = {}
    model_configuration: dict[str, Any] = {}
    allowed: tuple[Allowed, ...] = ()
    request_initiator: str | None = None


# Parameters and results of the methods.


class ClientInfo(Wire):
    """Name and version of a peer."""

    name: str
    version: str = ""


class Capabilities(Wire):
    """The kinds of part that the client can take beside text and tool calls.

    With `progress` it also gets notifications about long work. With `elicit` it answers
    `lm/elicit`, and with `readTextFile` it answers `lm/readTextFile`. With `changes` it gets the
    files that an agent has changed by itself, as data of the kind
    `application/vnd.vscodelm.changes+json` with [ChangedFiles](#changedfiles) in it. With
    `changedFiles` it watches the files of its workspace while an agent works: it gets
    `lm/watchFiles`, and answers `lm/changedFiles`.
    """

    thinking: bool = False
    data: bool = False
    usage: bool = False
    marker: bool = False
    progress: bool = False
    elicit: bool = False
    read_text_file: bool = False
    changes: bool = False
    changed_files: bool = False


class InitializeParams(Wire):
    """The client's name, and the features that it supports.

    `workspaceFolders` are absolute paths. An agent works in the first, unless its definition names
    a folder, and in the others too if it can. `mcpServers` are those of the user's that agents are
    given; each is a UserMcpServer, and one that is wrong is left out.
    """

    client_info: ClientInfo
    capabilities: Capabilities = Capabilities()
    workspace_folders: tuple[str, ...] = ()
    mcp_servers: tuple[Raw, ...] = ()


class WorkspaceFoldersParams(Wire):
    """The folders of the editor's window now, absolute paths; new sessions work in them."""

    workspace_folders: tuple[str, ...]


class McpServersParams(Wire):
    """The user's MCP servers for agents from now on, each a UserMcpServer."""

    mcp_servers: tuple[Raw, ...]


class ServerCapabilities(Wire, omit_defaults=False):
    """The server's features beside the methods of the first protocol."""

    cancel: bool = True
    stats: bool = True
    settings: bool = True


class InitializeResult(Wire, omit_defaults=False):
    """Our name, version and capabilities."""

    server_info: ClientInfo
    capabilities: ServerCapabilities = ServerCapabilities()


class ModelsParams(Wire):
    """`silent`: don't ask the user anything (we never do).

    `agents` has the definitions of the client's own models by their ids. `settings` has their
    settings, and `information` their names and limits. Each such model is listed with that id, in
    the place of one of ours. If something of a model is wrong, the model is left out, and the
    result has its fault.
    """

    silent: bool = False
    agents: dict[str, Raw] = {}
    settings: dict[str, Raw] = {}
    information: dict[str, Raw] = {}


class ShownModel(Wire):
    """A model as its owner wants it to be shown; limits in tokens.

    The name is by default that of the agent, or else the id. `family` is by default the id. Every
    agent but Eliza takes images unless `imageInput` is false.
    """

    name: str = ""
    family: str = ""
    version: str = "1"
    max_input_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_output_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    tooltip: str | None = None
    detail: str | None = None
    tool_calling: bool = True
    image_input: bool | None = None


class ModelCapabilities(Wire, omit_defaults=False):
    """The kinds of input that a model takes."""

    tool_calling: bool = True
    image_input: bool = False


class ConfigurationProperty(Wire, omit_defaults=False, kw_only=True):
    """A choice of one value; `enumItemLabels` and `enumDescriptions` have one text for each.

    VS Code shows two properties beside the model: the first of the group "navigation", and the
    first of the group "tokens".
    """

    type: Literal["string"] = "string"
    title: str
    enum: tuple[str, ...]
    enum_item_labels: tuple[str, ...]
    enum_descriptions: tuple[str, ...] | UnsetType = UNSET
    default: str
    group: str | UnsetType = UNSET


class ConfigurationSchema(Wire, omit_defaults=False, kw_only=True):
    """The choices that a model offers in the host's picker, by their keys.

    A chat request brings the user's choices with the same keys, in `modelConfiguration`. A value is
    one of the property's `enum`. A key that is missing there counts as not chosen.

    - `permissions` is vscodelm's own: how an agent's questions for permission are answered. ACP
      agents have it always.
    - `model`, `mode` and `reasoningEffort` are the agent's own model, mode and effort, as far as it
      offers them.
    - Every other option of the agent has its own id as the key. If that is one of the four above,
      the key is `agent.ID`, such as `agent.mode`.
    - An option that is on or off has the values `"true"` and `"false"`.
    """

    type: Literal["object"] = "object"
    properties: dict[str, ConfigurationProperty]


class ModelInformation(Wire, omit_defaults=False):
    """A model as the host's picker shows it; limits in tokens.

    `maxContextWindowTokens` is the size of an agent's own context, where it is known and the
    configuration gives no limit of the input. Hosts show how full the context is by it, or by the
    sum of the other two limits, which is the same number then.
    """

    id: str
    name: str
    family: str
    version: str
    max_input_tokens: int
    max_output_tokens: int
    max_context_window_tokens: int | UnsetType = UNSET
    tooltip: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    capabilities: ModelCapabilities = ModelCapabilities()
    configuration_schema: ConfigurationSchema | UnsetType = UNSET


class ModelsResult(Wire, omit_defaults=False):
    """Every model that can be picked.

    `faults` has, by the ids of the client's models, why one isn't listed, in words for the user.
    """

    models: list[ModelInformation]
    faults: dict[str, str] | UnsetType = UNSET


class ChatParams(Wire):
    """One request of a chat: the whole history, each time. Messages stay raw until one is new."""

    model_id: str
    messages: Annotated[list[Raw], msgspec.Meta(min_length=1)]
    agent: Raw | UnsetType = UNSET
    options: ChatOptions = ChatOptions()
    settings: Settings | UnsetType = UNSET


class LogOutParams(Wire):
    """Of which agent: as in a chat."""

    model_id: str
    agent: Raw | UnsetType = UNSET


class LogInParams(Wire):
    """To which agent, as in a chat, and by which of its methods."""

    model_id: str
    method_id: str
    agent: Raw | UnsetType = UNSET


class AgentSessionsParams(Wire):
    """Of which agent: as in a chat."""

    model_id: str
    agent: Raw | UnsetType = UNSET


class ListedSession(Wire):
    """A session that an agent keeps, of one of the window's folders (`cwd`).

    `updatedAt` is when something was last said in it (ISO 8601). The agent may name neither that
    nor a title.
    """

    session_id: str
    cwd: str
    title: str = ""
    updated_at: str = ""


class AgentSessionsResult(Wire, omit_defaults=False):
    """The newest first. Those that a chat of the window has open are left out."""

    sessions: list[ListedSession]


class TokenCountParams(Wire):
    """Exactly one of `text` and `message`."""

    model_id: str
    text: str | UnsetType = UNSET
    message: Raw | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.text is UNSET) == (self.message is UNSET):
            raise ValueError("exactly one of `text` and `message` is needed")


class TokenCountResult(Wire, omit_defaults=False):
    """An estimate, in tokens."""

    count: int


class StatsParams(Wire):
    """Nothing to say."""


class AgentProcess(Wire):
    """A process of an agent's, together with its children.

    `processes` counts them all, and `memoryBytes` is the resident memory of all; what several of
    them share counts for each. Neither is there where it can't be read.
    """

    agent: str
    pid: int
    processes: int | UnsetType = UNSET
    memory_bytes: int | UnsetType = UNSET


class NewestRequest(Wire, omit_defaults=False):
    """The source of the newest main request.

    `harness` is `local`, `agentHost` or `other`. `offersProgress`: it offered the tool
    `vscodelm-progress`, with which the Agent Host shows an answer while it grows.
    """

    harness: str
    offers_progress: bool


class AgentCommand(Wire, omit_defaults=False):
    """A slash command of an agent; the user types `/name`. `hint` says what to type after it."""

    name: str
    description: str
    hint: str = ""


class Cost(Wire, omit_defaults=False):
    """`currency` is a code of ISO 4217, or a unit such as "credits"."""

    amount: float
    currency: str


class SessionUsage(Wire, omit_defaults=False, kw_only=True):
    """An open session of an ACP agent, as far as the agent describes it.

    `usedTokens` are in the agent's context now, and `contextWindow` is its size. `promptTokens` and
    `completionTokens` are the sums of all turns so far, and `cost` is that of the session so far.
    """

    agent: str
    turns: int
    title: str | UnsetType = UNSET
    used_tokens: int | UnsetType = UNSET
    context_window: int | UnsetType = UNSET
    prompt_tokens: int | UnsetType = UNSET
    completion_tokens: int | UnsetType = UNSET
    cost: Cost | UnsetType = UNSET
    commands: list[AgentCommand] | UnsetType = UNSET


class Stats(Wire, omit_defaults=False):
    """Counters since the process began; the others are of this moment.

    `requestsByHarness` counts the main requests by what sent them: VS Code's `local` harness, its
    `agentHost`, or any `other`. Rounds of the progress tool count nowhere. `processes` counts those
    that we started; `agentProcesses` has each of them, if there are any.
    `agentSessions` has the open sessions of ACP agents, the most recently used last.
    """

    requests_by_class: dict[str, int]
    requests_by_harness: dict[str, int]
    matches_by_rule: dict[str, int]
    misses_by_reason: dict[str, int]
    live_conversations: int
    sessions: int
    processes: int
    newest_request: NewestRequest | UnsetType = UNSET
    agent_processes: list[AgentProcess] | UnsetType = UNSET
    agent_sessions: list[SessionUsage] | UnsetType = UNSET


class Empty(Wire):
    """`{}`."""


class CancelParams(Wire):
    """The request to stop."""

    request_id: RequestId


class CancelRequestParams(Wire):
    """The same as `lm/cancel`, in the Language Server Protocol's words."""

    id: RequestId


class ResponsePartParams(Wire, omit_defaults=False):
    """A piece of the answer to `request_id`."""

    request_id: RequestId
    part: Part


class RawPartParams(msgspec.Struct, rename="camel"):
    """The same as `ResponsePartParams`, with a part for `decode_part`."""

    request_id: RequestId
    part: Raw


decode_part_params = msgspec.json.Decoder(RawPartParams).decode


class ProgressParams(Wire, omit_defaults=False):
    """The progress of a long operation, such as a download.

    `token` names the operation in each notification, and cancels it. `isOver` says that it is over.
    """

    token: int
    title: str
    message: str = ""
    is_over: bool = False


class CancelProgressParams(Wire):
    """The activity to cancel."""

    token: int


class ElicitParams(Wire):
    """An agent's question: a form with a `requestedSchema` to fill in, or a `url` to open.

    `requestId` is the chat request that is being answered. The schema is the agent's, unchanged: a
    JSON Schema of an object whose properties are strings, numbers, integers, booleans, choices, or
    lists of choices. A `url` begins with `http://` or `https://`.
    """

    request_id: RequestId
    message: str
    requested_schema: dict[str, Any] | UnsetType = UNSET
    url: str | UnsetType = UNSET


ElicitAction: TypeAlias = Literal["accept", "decline", "cancel"]
FieldValue: TypeAlias = str | int | float | bool | list[str]


class ElicitResult(Wire):
    """The user's answer: "accept", "decline", or "cancel" if the question was just closed.

    An accepted form has its values in `content`, by the names of the schema's properties. The agent
    checks them.
    """

    action: ElicitAction
    content: dict[str, FieldValue] | None = None


class ReadTextFileParams(Wire):
    """The absolute path of a file that an agent reads or is about to change."""

    path: str


class ReadTextFileResult(Wire):
    """The text of the open buffer, or else of the file on the disk; null if there is no file.

    `isDirty` says that the buffer has changes that aren't saved.
    """

    text: str | None
    is_dirty: bool = False


class WatchFilesParams(Wire):
    """A turn of an agent begins, or with `isOver` it ends. `watch` is its number."""

    watch: int
    is_over: bool = False


class WatchedFilesParams(Wire):
    """The number of the turn that is watched."""

    watch: int


class WatchedFiles(Wire):
    """The absolute paths of files that have changed since the turn began.

    Left out are changes that the editor has made itself, and files that its settings or git leave
    out. `more` is the number of changed files that aren't named.
    """

    paths: tuple[str, ...] = ()
    more: int = 0


class ChangedFile(Wire):
    """A file that an agent has changed by itself, or that has changed while the agent worked.

    `path` is as the agent or the editor names it. `before` is its text before the turn, with LF as
    line ends: null for a new file, absent if it isn't known.
    """

    path: str
    before: str | UnsetType | None = UNSET


class ChangedFiles(Wire):
    """The files that have changed in a turn, and not by the editor's own edits."""

    files: tuple[ChangedFile, ...]


class ToldFailure(Wire):
    """A failure that the answer tells in words: the message of an error, and its `data`."""

    message: str
    kind: str
    detail: str
    stderr_tail: str | UnsetType = UNSET
    fixes: list[Any] | UnsetType = UNSET


class ResponseCompleteParams(Wire, omit_defaults=False):
    """No further piece will come for `request_id`.

    `failure` is sent if the request failed and its answer tells that in words, so that it resolves.
    """

    request_id: RequestId
    failure: ToldFailure | UnsetType = UNSET


class InspectParams(Wire):
    """Whether the page that draws the events is sent, too.

    It is whole, with styles and scripts, and allows nothing else. It has no events yet: it takes
    them from messages of the form `{"type": "events", "events": [...], "leftOut": 0}`.
    """

    page: bool = False


class InspectedFact(Wire):
    """A row of words about a decision, such as `why`; without a name it continues the one above."""

    name: str
    text: str


class InspectedSession(Wire, omit_defaults=False):
    """The beginning of an agent's session.

    `start` is `fresh`, `replayed`, `resumed`, `forked` or `stored`, and `why` is the reason why no
    session went on. `told` counts the earlier messages that were sent to it. `process` is the id of
    the agent's process.
    """

    start: str
    why: str
    told: int
    process: int | UnsetType = UNSET


class InspectedTokens(Wire, omit_defaults=False):
    """The tokens of an answer, as the agent counts them. `context` is the size of its window."""

    prompt: int
    completion: int
    context: int | UnsetType = UNSET


class InspectedRequest(Wire, tag_field="event", tag="request", omit_defaults=False, kw_only=True):
    """A request, where it went and why, what its session was sent, and its answer.

    `at` and `endedAt` are seconds since the first event; without them the times aren't known.
    `takenBack` names requests that the agent must not know any more; `remembers` says that its
    session still knows them, as the settings want. `branchOf` is the conversation from which
    this one branches off, with its first `shared` exchanges. `facts` are the decision in words.
    `asked`, `given` (a line for each message) and `answer` are beginnings of texts. `calls` and
    `results` have the tool calls of the answer, and the calls whose results the request brings.
    `ending` is `open`, `complete`, `cancelled`, `failed`, `empty` or `repeated`. `rounds` counts
    the calls of the tool `vscodelm-progress` in it.
    """

    request: RequestId
    conversation: int
    model: str
    request_class: str
    reason: str
    at: float | UnsetType = UNSET
    branch_of: int | UnsetType = UNSET
    shared: int = 0
    extends: RequestId | UnsetType = UNSET
    taken_back: list[RequestId] = []
    remembers: bool = False
    session: InspectedSession | UnsetType = UNSET
    facts: list[InspectedFact] = []
    asked: str = ""
    given: list[str] = []
    results: list[str] = []
    rounds: int = 0
    ending: str = "open"
    ended_at: float | UnsetType = UNSET
    answer: str = ""
    calls: list[str] = []
    failure: str | UnsetType = UNSET
    tokens: InspectedTokens | UnsetType = UNSET


class InspectedRefusal(Wire, tag_field="event", tag="refusal", omit_defaults=False):
    """A request that got no conversation, such as one repeat too many."""

    request: RequestId
    why: str
    at: float | UnsetType = UNSET


class InspectedEnd(Wire, tag_field="event", tag="end", omit_defaults=False):
    """The end of a conversation."""

    conversation: int
    why: str
    at: float | UnsetType = UNSET


InspectedEvent: TypeAlias = InspectedRequest | InspectedRefusal | InspectedEnd


class InspectResult(Wire, omit_defaults=False):
    """The newest events, in their order. `leftOut` counts the older ones, which are forgotten.

    Texts are shortened, and secrets read `[redacted]`.
    """

    events: list[InspectedEvent]
    left_out: int = 0
    page: str | UnsetType = UNSET

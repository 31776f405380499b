"""The methods of the wire: what each takes and gives. docs/generate.py reads them, too."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from . import wire
from .jsonrpc import REFUSED, decoder_of
from .value import Value

MethodKind: TypeAlias = Literal[
    "request", "notification to us", "notification from us", "request from us"
]


class WireMethod(Value):
    """A method of the wire."""

    name: str
    direction: MethodKind
    params: type[msgspec.Struct]
    result: type[msgspec.Struct] | None
    summary: str


INITIALIZE = "lm/initialize"
MODELS = "lm/provideLanguageModelChatInformation"
CHAT = "lm/provideLanguageModelChatResponse"
TOKENS = "lm/provideTokenCount"
STATS = "lm/stats"
INSPECT = "lm/inspect"
LOG_IN = "lm/logIn"
LOG_OUT = "lm/logOut"
AGENT_SESSIONS = "lm/agentSessions"
CANCEL = "lm/cancel"
CANCEL_REQUEST = "$/cancelRequest"
RESPONSE_PART = "lm/responsePart"
RESPONSE_COMPLETE = "lm/responseComplete"
PROGRESS = "lm/progress"
CANCEL_PROGRESS = "lm/cancelProgress"
FOLDERS_CHANGED = "lm/didChangeWorkspaceFolders"
ELICIT = "lm/elicit"
READ_TEXT_FILE = "lm/readTextFile"
WATCH_FILES = "lm/watchFiles"
CHANGED_FILES = "lm/changedFiles"
MCP_SERVERS_CHANGED = "lm/didChangeMcpServers"
MODELS_CHANGED = "lm/didChangeLanguageModelChatInformation"

METHODS: tuple[WireMethod, ...] = (
    WireMethod(
        INITIALIZE,
        "request",
        wire.InitializeParams,
        wire.InitializeResult,
        "Introduce the editor, and name the kinds of part that it supports. Optional: without it, "
        "only text and tool calls are sent.",
    ),
    WireMethod(MODELS, "request", wire.ModelsParams, wire.ModelsResult, "List the models."),
    WireMethod(
        CHAT,
        "request",
        wire.ChatParams,
        wire.Empty,
        "Answer a chat whose whole history is in `messages`. The answer streams as "
        "`lm/responsePart`; `lm/responseComplete` and the result end it.",
    ),
    WireMethod(
        TOKENS,
        "request",
        wire.TokenCountParams,
        wire.TokenCountResult,
        "Estimate the tokens of a text or of a message.",
    ),
    WireMethod(STATS, "request", wire.StatsParams, wire.Stats, "Return counters of this process."),
    WireMethod(
        INSPECT,
        "request",
        wire.InspectParams,
        wire.InspectResult,
        "Return the newest decisions of this process, one for each request, with what its agent "
        "was sent: the rows that `vscodelm replay --html` draws.",
    ),
    WireMethod(
        LOG_IN,
        "request",
        wire.LogInParams,
        wire.Empty,
        "Log in to an ACP agent by the agent's own method, which a fix of the type `login` names. "
        "The answer comes after the login, or after its failure. The agent may open a browser.",
    ),
    WireMethod(
        LOG_OUT,
        "request",
        wire.LogOutParams,
        wire.Empty,
        "Log out of an ACP agent. Without such a method the error is `NotFound`, with a fix if "
        "the agent's own command is known.",
    ),
    WireMethod(
        AGENT_SESSIONS,
        "request",
        wire.AgentSessionsParams,
        wire.AgentSessionsResult,
        "List the sessions that an ACP agent keeps for the window's folders, also those that "
        "began elsewhere. A chat continues one if its first message is `/continue` and the id of "
        "the session. If the agent can't list them, the error is `NotFound`.",
    ),
    WireMethod(
        CANCEL,
        "notification to us",
        wire.CancelParams,
        None,
        "Stop answering a request. It resolves, and the parts so far stay valid.",
    ),
    WireMethod(
        CANCEL_REQUEST,
        "notification to us",
        wire.CancelRequestParams,
        None,
        "The same as `lm/cancel`, in the Language Server Protocol's words.",
    ),
    WireMethod(
        FOLDERS_CHANGED,
        "notification to us",
        wire.WorkspaceFoldersParams,
        None,
        "The folders of the window have changed. Sessions that are open keep theirs.",
    ),
    WireMethod(
        MCP_SERVERS_CHANGED,
        "notification to us",
        wire.McpServersParams,
        None,
        "The user's MCP servers for agents have changed. Sessions that are open keep theirs.",
    ),
    WireMethod(
        RESPONSE_PART,
        "notification from us",
        wire.ResponsePartParams,
        None,
        "A piece of an answer.",
    ),
    WireMethod(
        RESPONSE_COMPLETE,
        "notification from us",
        wire.ResponseCompleteParams,
        None,
        "The answer is complete; sent once, before the result of a request that resolves, and "
        "never before an error.",
    ),
    WireMethod(
        PROGRESS,
        "notification from us",
        wire.ProgressParams,
        None,
        "The progress of a long operation, such as the download of an agent. Sent only to an "
        "editor that has the capability `progress`.",
    ),
    WireMethod(
        CANCEL_PROGRESS,
        "notification to us",
        wire.CancelProgressParams,
        None,
        "Cancel a long operation. The requests that wait for it fail.",
    ),
    WireMethod(
        ELICIT,
        "request from us",
        wire.ElicitParams,
        wire.ElicitResult,
        "Ask the user for input, while a chat request is open. Sent only to an editor that has the "
        "capability `elicit`. If the answer isn't needed any more, `$/cancelRequest` says so with "
        "the id of this request, and a late answer is ignored.",
    ),
    WireMethod(
        READ_TEXT_FILE,
        "request from us",
        wire.ReadTextFileParams,
        wire.ReadTextFileResult,
        "Return the text of a file as the user sees it: that of the open buffer, or else that on "
        "the disk. Sent only to an editor that has the capability `readTextFile`, at any time. "
        "`$/cancelRequest` says if the text isn't needed any more.",
    ),
    WireMethod(
        WATCH_FILES,
        "notification from us",
        wire.WatchFilesParams,
        None,
        "Begin or end noting which files of the workspace change, because an agent begins or "
        "ends a turn. Turns of several chats may run at once. Sent only to an editor that has the "
        "capability `changedFiles`.",
    ),
    WireMethod(
        CHANGED_FILES,
        "request from us",
        wire.WatchedFilesParams,
        wire.WatchedFiles,
        "Return the files that have changed since a turn began. The end of the answer names them. "
        "Sent before the end of a turn in which the agent has used a tool, only to an editor that "
        "has the capability `changedFiles`. vscodelm waits for the answer for at most 3 seconds.",
    ),
    WireMethod(
        MODELS_CHANGED,
        "notification from us",
        wire.Empty,
        None,
        "The list of models has changed; ask again.",
    ),
)

REQUESTS: frozenset[str] = frozenset(m.name for m in METHODS if m.direction == "request")

_PARAMS: dict[str, type[msgspec.Struct]] = {
    method.name: method.params
    for method in METHODS
    if method.direction in ("request", "notification to us")
}


class _ChatLine(msgspec.Struct, tag_field="method", tag=CHAT):
    jsonrpc: Literal["2.0"]
    id: wire.RequestId
    params: wire.ChatParams


_decode_chat_line = msgspec.json.Decoder(_ChatLine).decode
_CHAT_NAME = CHAT.encode()


def read_chat(line: bytes) -> tuple[wire.RequestId, wire.ChatParams] | None:
    """Return the id and parameters of a chat request, read in one pass over a long history.

    None if it is anything else, or isn't quite right: the way by the envelope finds out what.
    """
    if _CHAT_NAME not in line[:256]:
        return None
    try:
        chat = _decode_chat_line(line)
    except REFUSED:
        return None
    return chat.id, chat.params


def decoder(method: str) -> msgspec.json.Decoder[Any] | None:
    """Return the decoder of a method's parameters, None if we don't serve it."""
    params = _PARAMS.get(method)
    return None if params is None else decoder_of(params)

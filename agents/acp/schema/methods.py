"""The methods between client and agent: parameters and results.

`Method` pairs them, so that a caller gets the result that belongs to the request. Our responses to
the agent are only encoded; the agent's responses are only decoded.
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from bridge.value import Value
from bridge.wire import RequestId, Wire

from .content import ContentBlock, ToolCallUpdate
from .initialize import (
    AuthenticateRequest,
    InitializeRequest,
    InitializeResponse,
    LogoutRequest,
    McpServer,
)
from .options import SessionConfigOption, SessionModelState, SessionModeState


class EmptyResponse(Wire):
    """`{}`, or any other value that an agent sends as an empty result."""


_NAMESPACES = frozenset({"$", "document", "elicitation", "fs", "mcp", "nes", "session", "terminal"})
"""Prefixes, before the slash, of the protocol's own methods in any version or draft."""


def is_extension(name: str) -> bool:
    """Return whether a name is an extension: the protocol lets anybody make such names.

    They begin with an underscore. Some agents begin theirs with a name of their own instead.
    """
    namespace, slash, _ = name.partition("/")
    return name.startswith("_") or bool(slash and namespace not in _NAMESPACES)


# Sessions: opening, keeping, ending.


class NewSessionRequest(Wire):
    """Open a session; `cwd` is an absolute path."""

    cwd: str
    mcp_servers: tuple[McpServer, ...]
    additional_directories: tuple[str, ...] = ()
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class NewSessionResponse(Wire):
    """The session is open."""

    session_id: str
    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None
    models: SessionModelState | None = None


class LoadSessionRequest(Wire):
    """Open a session that was; the agent tells all that was said in it. Also for `resume`."""

    session_id: str
    cwd: str
    mcp_servers: tuple[McpServer, ...]
    additional_directories: tuple[str, ...] = ()
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class LoadSessionResponse(Wire):
    """The session is open again. Also for `resume`."""

    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None
    models: SessionModelState | None = None


class ListSessionsRequest(Wire):
    """List the sessions, of a folder if one is given; `cursor` is where the last page ended."""

    cwd: str | None = None
    cursor: str | None = None


class SessionInfo(Wire):
    """A session that the agent keeps."""

    session_id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None


class ListSessionsResponse(Wire):
    """A page of sessions."""

    sessions: tuple[SessionInfo, ...] = ()
    next_cursor: str | None = None


class CloseSessionRequest(Wire):
    """End a session."""

    session_id: str


class SetSessionModeRequest(Wire):
    """Choose a mode."""

    session_id: str
    mode_id: str


class SetSessionModelRequest(Wire):
    """Choose a model, in the way that never became part of the protocol."""

    session_id: str
    model_id: str


class SetSessionConfigOptionRequest(Wire):
    """Choose a value of an option. For one that is on or off, use `on_off`."""

    session_id: str
    config_id: str
    value: str | bool
    type: str | None = None

    @classmethod
    def on_off(cls, session_id: str, config_id: str, value: bool) -> SetSessionConfigOptionRequest:
        """Return the request to switch an option."""
        return cls(session_id, config_id, value, "boolean")


class SetSessionConfigOptionResponse(Wire):
    """All the options, as they are now."""

    config_options: tuple[SessionConfigOption, ...] = ()


# Turns.


class PromptRequest(Wire):
    """Begin a turn. The answer ends it."""

    session_id: str
    prompt: tuple[ContentBlock, ...]


class Usage(Wire):
    """Tokens; not stable yet."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    thought_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


class PromptResponse(Wire):
    """The turn is over; `stop_reason` is one of `agents.events.StopReason`, or a later word."""

    stop_reason: str
    usage: Usage | None = None


class CancelNotification(Wire):
    """End the turn of a session. Its prompt is answered all the same."""

    session_id: str


class CancelRequestNotification(Wire):
    """The answer to a request isn't needed any more; both sides may say so."""

    request_id: RequestId | None


# Permissions, which the agent asks for.


class PermissionOption(Wire):
    """An answer to choose; kind allow_once, allow_always, reject_once or reject_always."""

    option_id: str
    name: str
    kind: str


class RequestPermissionRequest(Wire):
    """The agent asks whether it may do this."""

    session_id: str
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...]


class SelectedPermissionOutcome(Wire, tag_field="outcome", tag="selected"):
    """The option that was chosen."""

    option_id: str


class CancelledPermissionOutcome(Wire, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled. Real agents take it for that, so a denial is something else."""


RequestPermissionOutcome: TypeAlias = SelectedPermissionOutcome | CancelledPermissionOutcome


class RequestPermissionResponse(Wire):
    """The answer to a permission request."""

    outcome: RequestPermissionOutcome


# The methods.

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


class Method(Value, Generic[P, R]):
    """A request to the agent: the types of its parameters and its result."""

    name: str
    params: type[P]
    result: type[R]


INITIALIZE = Method("initialize", InitializeRequest, InitializeResponse)
AUTHENTICATE = Method("authenticate", AuthenticateRequest, EmptyResponse)
LOGOUT = Method("logout", LogoutRequest, EmptyResponse)
NEW_SESSION = Method("session/new", NewSessionRequest, NewSessionResponse)
LOAD_SESSION = Method("session/load", LoadSessionRequest, LoadSessionResponse)
RESUME_SESSION = Method("session/resume", LoadSessionRequest, LoadSessionResponse)
FORK_SESSION = Method("session/fork", LoadSessionRequest, NewSessionResponse)
LIST_SESSIONS = Method("session/list", ListSessionsRequest, ListSessionsResponse)
CLOSE_SESSION = Method("session/close", CloseSessionRequest, EmptyResponse)
SET_MODE = Method("session/set_mode", SetSessionModeRequest, EmptyResponse)
SET_MODEL = Method("session/set_model", SetSessionModelRequest, EmptyResponse)
SET_CONFIG_OPTION = Method(
    "session/set_config_option", SetSessionConfigOptionRequest, SetSessionConfigOptionResponse
)
PROMPT = Method("session/prompt", PromptRequest, PromptResponse)

METHODS: tuple[Method[Any, Any], ...] = (
    INITIALIZE,
    AUTHENTICATE,
    LOGOUT,
    NEW_SESSION,
    LOAD_SESSION,
    RESUME_SESSION,
    FORK_SESSION,
    LIST_SESSIONS,
    CLOSE_SESSION,
    SET_MODE,
    SET_MODEL,
    SET_CONFIG_OPTION,
    PROMPT,
)
"""Requests to an agent."""

CANCEL = "session/cancel"
"""Our notification, with `CancelNotification`."""

CANCEL_REQUEST = "$/cancel_request"
"""A notification of either side, with `CancelRequestNotification`."""

UPDATE = "session/update"
"""The agent's notification, with `SessionNotification`."""

REQUEST_PERMISSION = "session/request_permission"
"""The agent's request, with `RequestPermissionRequest`; answered by `RequestPermissionResponse`."""

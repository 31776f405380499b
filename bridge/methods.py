"""The methods of the wire: what each takes and gives. docs/generate.py reads them, too."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from . import wire
from .value import Value

Direction: TypeAlias = Literal["request", "notification to us", "notification from us"]


class Method(Value):
    """A method of the wire."""

    name: str
    direction: Direction
    params: type[msgspec.Struct]
    result: type[msgspec.Struct] | None
    summary: str


INITIALIZE = "lm/initialize"
MODELS = "lm/provideLanguageModelChatInformation"
CHAT = "lm/provideLanguageModelChatResponse"
TOKENS = "lm/provideTokenCount"
STATS = "lm/stats"
LOG_IN = "lm/logIn"
LOG_OUT = "lm/logOut"
CANCEL = "lm/cancel"
CANCEL_REQUEST = "$/cancelRequest"
RESPONSE_PART = "lm/responsePart"
RESPONSE_COMPLETE = "lm/responseComplete"
PROGRESS = "lm/progress"
CANCEL_PROGRESS = "lm/cancelProgress"
MODELS_CHANGED = "lm/didChangeLanguageModelChatInformation"

METHODS: tuple[Method, ...] = (
    Method(
        INITIALIZE,
        "request",
        wire.InitializeParams,
        wire.InitializeResult,
        "Say who you are and which kinds of part you can take. Optional: without it, only text and "
        "tool calls are sent.",
    ),
    Method(MODELS, "request", wire.ModelsParams, wire.ModelsResult, "List the models."),
    Method(
        CHAT,
        "request",
        wire.ChatParams,
        wire.Empty,
        "Answer a chat whose whole history is in `messages`. The answer streams as "
        "`lm/responsePart`; `lm/responseComplete` and the result end it.",
    ),
    Method(
        TOKENS,
        "request",
        wire.TokenCountParams,
        wire.TokenCountResult,
        "Estimate the tokens of a text or of a message.",
    ),
    Method(STATS, "request", wire.StatsParams, wire.Stats, "Return counters of this process."),
    Method(
        LOG_IN,
        "request",
        wire.LogInParams,
        wire.Empty,
        "Have an ACP agent log in by a method of its own, which a fix of the type `login` names. "
        "The answer comes when the agent has logged in, or can't; it may open a browser.",
    ),
    Method(
        LOG_OUT,
        "request",
        wire.LogOutParams,
        wire.Empty,
        "Log out of an ACP agent. An agent without such a method answers with `NotFound`, and "
        "with a fix where its own command is known.",
    ),
    Method(
        CANCEL,
        "notification to us",
        wire.CancelParams,
        None,
        "Stop answering a request. It resolves; what was sent stays valid.",
    ),
    Method(
        CANCEL_REQUEST,
        "notification to us",
        wire.CancelRequestParams,
        None,
        "The same, in the Language Server Protocol's words.",
    ),
    Method(
        RESPONSE_PART,
        "notification from us",
        wire.ResponsePartParams,
        None,
        "A piece of an answer.",
    ),
    Method(
        RESPONSE_COMPLETE,
        "notification from us",
        wire.ResponseCompleteParams,
        None,
        "The answer is complete; sent once, before the result of a request that resolves, and "
        "never before an error.",
    ),
    Method(
        PROGRESS,
        "notification from us",
        wire.ProgressParams,
        None,
        "Something takes long, such as the download of an agent. Sent only to an editor that has "
        "the capability `progress`.",
    ),
    Method(
        CANCEL_PROGRESS,
        "notification to us",
        wire.CancelProgressParams,
        None,
        "Cancel what takes long. The requests that wait for it fail.",
    ),
    Method(
        MODELS_CHANGED,
        "notification from us",
        wire.Empty,
        None,
        "The list of models has changed; ask again.",
    ),
)

REQUESTS: frozenset[str] = frozenset(m.name for m in METHODS if m.direction == "request")

_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    method.name: msgspec.json.Decoder(method.params)
    for method in METHODS
    if method.direction != "notification from us"
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return chat.id, chat.params


def decoder(method: str) -> msgspec.json.Decoder[Any] | None:
    """Return the decoder of a method's parameters, None if we don't serve it."""
    return _decoders.get(method)

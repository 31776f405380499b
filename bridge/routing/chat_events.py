"""Events that the chats of an editor take in, and their effects: see `bridge.chats`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bridge.errors import Failure
from bridge.history import events
from bridge.history.events import Cancel, Fail, Finish
from bridge.history.exchange import Exchange
from bridge.value import Value
from bridge.wire import Part, RequestId

from .index import ConversationKey
from .outcome import Outcome, RoutedRequest
from .request import RequestClass

NOBODY: ConversationKey = 0
"""Stands for the conversation in effects on a request that got none."""

# Events.


class ChatRequest(Value):
    """A chat request came."""

    request: RequestId
    routed: RoutedRequest
    size: int
    """Bytes of its messages."""
    max_sessions: int
    """Most conversations that its agent may have."""
    marker: str | None = None
    """The token of our mark that the answer will end with; None: the host can't take one."""
    among_strangers: bool = False
    """Whether requests come from clients that don't know each other.

    None takes another's place, and a repeat is no storm."""


class Cancelled(Value):
    """The editor cancelled a request."""

    request: RequestId


class Said(Value):
    """An agent said something in a turn."""

    conversation: ConversationKey
    turn: int
    parts: Sequence[Part]


class Ended(Value):
    """A turn's response is complete, with these parts as its last.

    `handle` names the agent's session if it now knows the same messages as the user.
    """

    conversation: ConversationKey
    turn: int
    parts: Sequence[Part] = ()
    handle: str | None = None


class Failed(Value):
    """A turn failed."""

    conversation: ConversationKey
    turn: int
    failure: Failure


class Expired(Value):
    """A session has been idle for its time."""

    conversation: ConversationKey


class Broke(Value):
    """An unexpected error was met, so the history of a conversation can't be relied on any more.

    The conversation is given by its key, or by its open request.
    """

    failure: Failure
    conversation: ConversationKey = NOBODY
    request: RequestId | None = None


class Leaving(Value):
    """The editor is gone or we must stop: settle everything and end."""


class SessionRecalled(Value):
    """A stored session of the agent knew the chat of a request, though no conversation did."""


class MemoryLimited(Value):
    """All conversations together may take so many bytes, from the next request on."""

    most_bytes: int


ChatEvent: TypeAlias = (
    ChatRequest
    | Cancelled
    | Said
    | Ended
    | Failed
    | Expired
    | Broke
    | Leaving
    | SessionRecalled
    | MemoryLimited
)


# Effects, beside those of one history.


class Refused(Value):
    """The request is one repeat too many: answer it with this failure."""

    request: RequestId
    failure: Failure


class Opened(Value):
    """The conversation is new and needs a session."""

    request_class: RequestClass
    origin: ConversationKey | None = None
    """The conversation whose session knows all that comes before the request, and nothing else."""


class Routed(Value):
    """The request belongs to this conversation and will be its turn `turn`."""

    request: RequestId
    turn: int
    routed: RoutedRequest
    outcome: Outcome


class TurnEnded(Value):
    """A turn ended, was cancelled or failed."""

    turn: int
    how: Finish | Cancel | Fail


class Remember(Value):
    """The agent's session `handle` knows this record."""

    handle: str
    record: list[Exchange]


class LeftBehind(Value):
    """The chat goes on in another conversation."""


class Closed(Value):
    """The conversation has ended and is forgotten."""

    reason: str
    is_newest: bool = False
    """Whether it was asked last."""


ChatEffect: TypeAlias = (
    events.Effect | Refused | Opened | Routed | TurnEnded | Remember | LeftBehind | Closed
)
Effects: TypeAlias = list[tuple[ConversationKey, ChatEffect]]
"""Each with the conversation that it is about."""

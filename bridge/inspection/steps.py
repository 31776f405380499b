"""The decisions about requests, step by step: of a running server, or of a replay."""

from __future__ import annotations

from typing import TypeAlias

from bridge.history.exchange import Ending
from bridge.history.message import Message
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Outcome
from bridge.routing.request import RequestClass
from bridge.value import Value
from bridge.wire import RequestId

from .telling import Telling


class RequestDecision(Value):
    """The decision about one request."""

    request: RequestId
    conversation: ConversationKey
    outcome: Outcome
    request_class: RequestClass
    extends: RequestId | None
    """The request whose answer this one builds on."""
    replaces: tuple[RequestId, ...]
    """The requests that it takes back."""
    new_from: int
    """Index in the request of the first message that the agent wasn't given before."""
    delivered: tuple[Message, ...]
    """The messages for the agent: the new ones, or all of them in a new conversation."""
    telling: Telling
    """The way in which the agent gets the request."""
    committed: Ending | None = None
    """The ending of the exchange that the request continues, and so confirms."""
    model: str = ""


class RequestEnded(Value):
    """The end of a request, and its answer up to then."""

    request: RequestId
    ending: Ending
    answer: Message | None
    failure: str | None = None
    repeat: RequestId | None = None
    """The equal request that gets the rest of the answer."""
    told: str | None = None
    """The failure that the answer tells in words."""


class RequestRefused(Value):
    """A request that got no conversation: it can't be read, or is one repeat too many."""

    request: RequestId
    reason: str


class SessionBegan(Value):
    """The beginning of the server's session for a request; only a trace of the server has it."""

    request: RequestId
    start: str
    why: str
    told: int
    """The number of earlier messages that the session got."""
    process: int | None = None
    """The id of the agent's process, if it has one."""


class Over(Value):
    """A conversation ended."""

    conversation: ConversationKey
    reason: str


InspectionStep: TypeAlias = RequestDecision | RequestEnded | RequestRefused | SessionBegan | Over


class Branch(Value):
    """A branch of a chat: a conversation, and the one whose beginning it shares."""

    conversation: ConversationKey
    origin: ConversationKey | None
    shared: int
    """The number of exchanges that it shares with its origin."""
    exchanges: int
    """The number of all its exchanges."""

"""Explain which session gets a request, and which earlier messages are sent again.

A replay doesn't know the agent's abilities, nor whether it still has a session. So the explanation
says what is tried first, and what follows if that fails. The session actor decides by the same
facts (`actors.continuity`).
"""

from __future__ import annotations

import enum
from typing import assert_never

from bridge.history.exchange import Ending, Supersedes
from bridge.history.machine import History
from bridge.history.rules import Rule
from bridge.models import ELIZA_ID, AgentChoice
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Joins, Opens, Outcome, Reason
from bridge.value import Value
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec


class MemoryKind(enum.Enum):
    """The memory that an agent keeps of a chat."""

    SESSIONS = "sessions"
    """Sessions, which may be found again or forked. An unknown agent counts as such."""
    RESPONSES = "responses"
    """Responses, each of which can be continued."""
    NOTHING = "nothing"
    """Only what it has in mind while its session is open."""

    @classmethod
    def of(cls, agent: AgentChoice | None, model: str) -> MemoryKind:
        """Return the kind of an agent; None: the request only names its model."""
        if agent is None:
            return cls.NOTHING if model == ELIZA_ID else cls.SESSIONS
        definition = agent.spec.definition
        match definition:
            case OpenResponsesSpec():
                return cls.RESPONSES
            case McpServerSpec():
                return cls.SESSIONS
            case ElizaSpec():
                return cls.NOTHING
            case _:
                assert_never(definition)


class SessionSource(enum.Enum):
    """The session that gets a request."""

    GOES_ON = "goes on"
    """That of its conversation."""
    IN_MID_TURN = "in mid-turn"
    """The same, whose turn waits for results."""
    RUNNING = "running"
    """The same, which has got the request already: its turn runs, or has just ended."""
    KEPT = "kept"
    """The same, though it remembers what was withdrawn: the settings want that."""
    NEW = "new"
    """One that knows nothing."""
    FOUND = "found"
    """One that is remembered of the chat, if there is one."""
    FORK = "fork"
    """A fork of another conversation's, which knows all that comes before and nothing else."""
    RESPONSE = "response"
    """None: it goes on from an earlier response."""


_GOING_ON = (SessionSource.GOES_ON, SessionSource.IN_MID_TURN, SessionSource.RUNNING)


class Cause(enum.Enum):
    """Why the conversation has no session that can go on."""

    NEW = "new"
    EDIT = "edit"
    WITHDRAWN = "withdrawn"
    RETRY = "retry"
    FORK = "fork"
    """Another branch of the chat goes its own way."""


class Telling(Value):
    """The way in which an agent gets a request, by the first attempt."""

    kind: MemoryKind
    way: SessionSource
    cause: Cause | None = None
    """None where the session goes on."""
    past: int = 0
    """The number of messages at the beginning of the request that are sent as earlier messages to
    an agent that doesn't know them."""
    beside: ConversationKey | None = None
    """The conversation that is left, and keeps its session."""
    closes: bool = False
    """Whether the session that the conversation had is closed."""
    may_be_lost: bool = False
    """Whether a failure may have ended the session that is gone on with."""
    is_summarised: bool = False
    """Whether the session knows in full what the host sums up."""

    def remembers(self, before: bool) -> bool:
        """Return whether the session knows what was withdrawn, if it was so `before`."""
        if self.way in _GOING_ON:
            return before
        return self.way is SessionSource.KEPT


class BranchOrigin(Value):
    """The conversation that a branch leaves, as it is when it is left."""

    history: History
    is_rewound: bool
    """Whether its session remembers what was withdrawn."""

    def is_whole(self, shared: int) -> bool:
        """Return whether its first `shared` exchanges are all that it knows.

        The router lets nobody share the whole of one that isn't at rest.
        """
        return shared == len(self.history.exchanges)


def telling(
    kind: MemoryKind,
    outcome: Outcome,
    past: int,
    *,
    keeps: bool = False,
    committed: Ending | None = None,
    origin: BranchOrigin | None = None,
    is_led: bool = False,
) -> Telling:
    """Explain how an agent gets a request.

    `past` is the index in the request of the first message that is new, `committed` how the
    exchange ended that the request builds on by joining; `keeps`: what is withdrawn need not be
    forgotten. `origin` is what a branch leaves, `is_led` whether it has answers beside that.
    """
    match outcome:
        case Joins(reason=Reason.REPEAT):
            return Telling(kind, SessionSource.RUNNING, past=past)
        case Joins(match=Supersedes()) if keeps:
            return Telling(kind, SessionSource.KEPT)
        case Joins(match=Supersedes()):
            cause = Cause.RETRY if outcome.reason is Reason.RETRY else Cause.WITHDRAWN
            return Telling(kind, _anew(kind, past), cause, past, closes=True)
        case Joins():
            return Telling(
                kind,
                SessionSource.IN_MID_TURN
                if outcome.reason in (Reason.PENDING_CALL, Reason.PROGRESS)
                else SessionSource.GOES_ON,
                past=past,
                may_be_lost=committed is Ending.FAILED,
                is_summarised=Rule.SUMMARY in outcome.match.rules,
            )
        case Opens() if origin is not None:
            way, cause = _anew(kind, past), Cause.EDIT
            if origin.is_whole(outcome.shared):
                cause = Cause.FORK
                way = (
                    SessionSource.FORK
                    if kind is MemoryKind.SESSIONS and not origin.is_rewound
                    else way
                )
            way = SessionSource.FOUND if is_led and kind is MemoryKind.SESSIONS else way
            cause = Cause.RETRY if outcome.reason is Reason.RETRY else cause
            return Telling(kind, way, cause, past, beside=outcome.origin)
        case Opens():
            way = _anew(kind, past)
            if way is SessionSource.NEW and past and kind is MemoryKind.SESSIONS:
                way = (
                    SessionSource.NEW if outcome.reason is Reason.ONE_SHOT else SessionSource.FOUND
                )
            return Telling(kind, way, Cause.NEW, past)
        case _:
            assert_never(outcome)


def _anew(kind: MemoryKind, past: int) -> SessionSource:
    return SessionSource.RESPONSE if kind is MemoryKind.RESPONSES and past else SessionSource.NEW

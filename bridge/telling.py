"""How an agent gets to know a request: in which of its sessions, and what it is told again there.

What an agent can do, and what it still has, isn't known here: so this says what is tried, and what
is done where it fails. The session actor decides by the same facts (`actors.session`).
"""

from __future__ import annotations

import enum
from typing import assert_never

from msgspec import UNSET

from .exchange import Ending
from .history import History
from .index import ConversationKey
from .match import Supersedes
from .models import ELIZA_ID, AgentChoice
from .router import Joins, Opens, Outcome, Reason
from .rules import Rule
from .value import Value


class Kind(enum.Enum):
    """What an agent keeps of a chat."""

    SESSIONS = "sessions"
    """Sessions, which may be found again or forked. So has one of which nothing is known."""
    RESPONSES = "responses"
    """Responses, each of which can be gone on from."""
    NOTHING = "nothing"
    """Only what it has in mind while its session is open."""

    @classmethod
    def of(cls, agent: AgentChoice | None, model: str) -> Kind:
        """Return the kind of an agent; None: the request only names its model."""
        if agent is None:
            return cls.NOTHING if model == ELIZA_ID else cls.SESSIONS
        if agent.spec.open_responses is not UNSET:
            return cls.RESPONSES
        return cls.NOTHING if agent.spec.eliza is not UNSET else cls.SESSIONS


class Way(enum.Enum):
    """Which session is given a request."""

    GOES_ON = "goes on"
    """That of its conversation."""
    IN_MID_TURN = "in mid-turn"
    """The same, whose turn waits for results."""
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


class Cause(enum.Enum):
    """Why the conversation has no session that can go on."""

    NEW = "new"
    EDIT = "edit"
    WITHDRAWN = "withdrawn"
    RETRY = "retry"
    FORK = "fork"
    """Another line of the chat goes its own way."""


class Telling(Value):
    """How a request is told, by what is tried first."""

    kind: Kind
    way: Way
    cause: Cause | None = None
    """None where the session goes on."""
    past: int = 0
    """How many messages at the beginning of the request are told as what was said before, to an
    agent that doesn't know them."""
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
        if self.way in (Way.GOES_ON, Way.IN_MID_TURN):
            return before
        return self.way is Way.KEPT


class Origin(Value):
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
    kind: Kind,
    outcome: Outcome,
    past: int,
    *,
    keeps: bool = False,
    committed: Ending | None = None,
    origin: Origin | None = None,
    is_led: bool = False,
) -> Telling:
    """Return how a request is told.

    `past` is the index in the request of the first message that is new, `committed` how the
    exchange ended that the request builds on by joining; `keeps`: what is withdrawn need not be
    forgotten. `origin` is what a branch leaves, `is_led` whether it has answers beside that.
    """
    match outcome:
        case Joins(match=Supersedes()) if keeps:
            return Telling(kind, Way.KEPT)
        case Joins(match=Supersedes()):
            cause = Cause.RETRY if outcome.reason is Reason.RETRY else Cause.WITHDRAWN
            return Telling(kind, _anew(kind, past), cause, past, closes=True)
        case Joins():
            return Telling(
                kind,
                Way.IN_MID_TURN if outcome.reason is Reason.PENDING_CALL else Way.GOES_ON,
                past=past,
                may_be_lost=committed is Ending.FAILED,
                is_summarised=Rule.SUMMARY in outcome.match.rules,
            )
        case Opens() if origin is not None:
            way, cause = _anew(kind, past), Cause.EDIT
            if origin.is_whole(outcome.shared):
                cause = Cause.FORK
                way = Way.FORK if kind is Kind.SESSIONS and not origin.is_rewound else way
            way = Way.FOUND if is_led and kind is Kind.SESSIONS else way
            cause = Cause.RETRY if outcome.reason is Reason.RETRY else cause
            return Telling(kind, way, cause, past, beside=outcome.origin)
        case Opens():
            way = _anew(kind, past)
            if way is Way.NEW and past and kind is Kind.SESSIONS:
                way = Way.NEW if outcome.reason is Reason.ONE_SHOT else Way.FOUND
            return Telling(kind, way, Cause.NEW, past)
        case _:
            assert_never(outcome)


def _anew(kind: Kind, past: int) -> Way:
    return Way.RESPONSE if kind is Kind.RESPONSES and past else Way.NEW

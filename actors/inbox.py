"""What the History Actor is told, by the editor port and by its session actors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bridge.errors import Failure
from bridge.gauge import Measured
from bridge.index import ConversationKey
from bridge.models import AgentChoice
from bridge.router import Question
from bridge.transcript import Transcript
from bridge.value import Value
from bridge.wire import Capabilities, ChatOptions, Part, RequestId, Settings

from .beginning import Start, Why


class Asked(Value):
    """A chat request."""

    request: RequestId
    model: str
    agent: AgentChoice
    transcript: Transcript
    options: ChatOptions
    settings: Settings
    capabilities: Capabilities

    def question(self) -> Question:
        """Return the request as far as it says whose it is."""
        keep = self.settings.rewind == "continue"
        return Question.of(self.agent.key, self.transcript, self.options, keep=keep)


class Cancelled(Value):
    """The editor cancelled a request."""

    request: RequestId


class AccountAsked(Value):
    """`lm/logIn` with a method, or `lm/logOut` without one."""

    request: RequestId
    agent: AgentChoice
    method_id: str | None


class StatsAsked(Value):
    """`lm/stats`."""

    request: RequestId


class Leaving(Value):
    """The editor is gone or we are told to stop: settle everything and end."""


class Said(Value):
    """An agent said something in a turn."""

    conversation: ConversationKey
    turn: int
    parts: Sequence[Part]


class Began(Value):
    """A session is about to be given its first prompt, with so many messages of what was before."""

    conversation: ConversationKey
    turn: int
    start: Start
    why: Why
    told: int


class Ended(Value):
    """A turn's response is complete, with these parts as its last.

    `handle`: the session by which it can be found again, if that knows now what the user knows.
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


class Gauged(Value):
    """A model counted the tokens of what it was told."""

    model: str
    measured: Measured


class Expired(Value):
    """A session has been idle for its time."""

    conversation: ConversationKey


FromEditor: TypeAlias = Asked | Cancelled | AccountAsked | StatsAsked | Leaving
FromSession: TypeAlias = Began | Said | Ended | Failed | Expired | Gauged
Message: TypeAlias = FromEditor | FromSession

"""Messages to the History Actor, from the editor port and from its session actors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agents.events import Elicit, ElicitAnswer
from bridge.history.transcript import Transcript
from bridge.models import AgentChoice
from bridge.routing.chat_events import (
    Cancelled,
    ChatRequest,
    Ended,
    Expired,
    Failed,
    Leaving,
    Said,
)
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import RoutedRequest
from bridge.routing.request import Hints
from bridge.tokens.gauge import Measured
from bridge.value import Value
from bridge.wire import Capabilities, ChatOptions, ElicitResult, RequestId, Settings

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
    notice: str = ""
    """A line that the user reads before the answer, once in a session."""
    is_program: bool = False
    """Whether the client is a program: calls of the agent's own tools are parts of their own."""
    among_strangers: bool = False
    """Whether requests come from clients that don't know each other (`ChatRequest`)."""
    room: Callable[[], Awaitable[None]] | None = None
    """Waits for room for the parts of the answer; None: for that of the whole connection."""

    @property
    def hints(self) -> Hints:
        """The host's names for the chat."""
        options = self.options
        return Hints.of(options.model_options, self.transcript.lineage, options.request_initiator)

    def as_event(self, marker: str | None) -> ChatRequest:
        """Return the request as far as it says whose it is, and how much room there is for it."""
        keep = self.settings.rewind == "continue"
        return ChatRequest(
            self.request,
            RoutedRequest.of(self.agent.key, self.transcript, self.options, keep=keep),
            self.transcript.size,
            self.settings.max_sessions,
            marker,
            self.among_strangers,
        )


class AccountAsked(Value):
    """`lm/logIn` with a method, or `lm/logOut` without one."""

    request: RequestId
    agent: AgentChoice
    method_id: str | None


class SessionsAsked(Value):
    """`lm/agentSessions`."""

    request: RequestId
    agent: AgentChoice


class StatsAsked(Value):
    """`lm/stats`."""

    request: RequestId


class InspectAsked(Value):
    """`lm/inspect`."""

    request: RequestId
    page: bool


class Began(Value):
    """A session is about to get its first prompt, with so many earlier messages."""

    conversation: ConversationKey
    turn: int
    start: Start
    why: Why
    told: int
    process: int | None = None
    """The id of the agent's process, if it has one."""


class FormAsked(Value):
    """An agent asks the user for input. `answer` takes the answers; the first one counts."""

    conversation: ConversationKey
    turn: int
    elicit: Elicit
    answer: Callable[[ElicitAnswer], None]


class FormTakenBack(Value):
    """An agent takes its question back."""

    conversation: ConversationKey
    call_id: str


class FormAnswered(Value):
    """The editor has answered an `lm/elicit`, which has the id `form`."""

    form: RequestId
    result: ElicitResult


class Gauged(Value):
    """A model's server counted the tokens of the messages that it got."""

    model: str
    measured: Measured


EditorAsked: TypeAlias = AccountAsked | SessionsAsked | StatsAsked | InspectAsked
"""A request that is no chat request."""
FromEditor: TypeAlias = Asked | Cancelled | EditorAsked | FormAnswered | Leaving
FromSession: TypeAlias = (
    Began | Said | Ended | Failed | Expired | Gauged | FormAsked | FormTakenBack
)
ActorMessage: TypeAlias = FromEditor | FromSession

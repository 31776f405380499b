"""The ports of a turn with an ACP agent: to its session, and to the editor's tools. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from agents.acp.rpc.news import News, QuestionId, UserQuestion
from agents.acp.schema.content import ContentBlock
from agents.acp.schema.elicitation import CreateElicitationResponse
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import RequestPermissionOutcome
from agents.events import ToolAnswer
from agents.mcp.call_broker import CallBroker
from agents.mcp.offer import Offer
from bridge.errors import Failure


class ToolsPort(Offer, Protocol):
    """The toolbox of a session."""

    @property
    def calls(self) -> CallBroker:
        """The agent's calls of the tools."""
        ...

    def answer(self, answer: ToolAnswer) -> None:
        """Hand a result over."""
        ...

    def cancel(self) -> None:
        """Refuse all calls."""
        ...


class QuestionLine(Protocol):
    """The part of a session's channel that questions and calls use."""

    @property
    def tools(self) -> ToolsPort | None:
        """The editor's tools, if the session was opened with them."""
        ...

    def is_open(self, id_: QuestionId) -> bool:
        """Return whether a question waits for its answer."""
        ...

    def asks(self, id_: QuestionId, question: UserQuestion) -> bool:
        """Return whether this question waits for its answer; its id may be another's since."""
        ...

    def answer(
        self, id_: QuestionId, answer: RequestPermissionOutcome | CreateElicitationResponse
    ) -> None:
        """Answer a question."""
        ...

    def allows_edit(self, kind: str, paths: Collection[str]) -> bool:
        """Return whether an edit of these files needs no question: the editor shows it."""
        ...

    def record(self, words: str) -> None:
        """Write a line to the log."""
        ...

    def wake(self) -> None:
        """Make the turn look again."""
        ...


class TurnLine(QuestionLine, Protocol):
    """The channel to the agent of one session."""

    @property
    def lost(self) -> Failure | None:
        """Why the session is of no more use."""
        ...

    @property
    def is_unproven(self) -> bool:
        """Whether the session was reopened, and the agent may not know it."""
        ...

    @property
    def has_missed_file(self) -> bool:
        """Whether the agent was told in this turn that a file is missing."""
        ...

    def prompt(self, blocks: tuple[ContentBlock, ...]) -> None:
        """Send the prompt."""
        ...

    def take(self) -> list[News]:
        """Return the news that no turn has taken yet."""
        ...

    def cancel(self, now: float) -> None:
        """Send `session/cancel`, and answer all requests."""
        ...

    def end_stopped(self) -> None:
        """Note that the turn has ended as a stopped one; drop all news until the next prompt."""
        ...

    def lose(self, failure: Failure) -> None:
        """Give the session up."""
        ...

    def pause(self) -> None:
        """Note that nobody takes news for now."""
        ...


class TurnSession(Protocol):
    """The part of a session that a turn uses, beside the channel."""

    def new_call_id(self) -> str:
        """Return an id for a question."""
        ...

    def be_told(self) -> None:
        """Note that the prompt was sent."""
        ...

    def failure_of(self, error: Error) -> Failure:
        """Return an agent's error in words."""
        ...

    def complaint(self, now: float) -> str | None:
        """Return, once, what the user should know where the agent ignores its tools."""
        ...


class WaitingSession(TurnSession, Protocol):
    """A session, with what is waited for."""

    async def prepare(self) -> Failure | None:
        """Do what must be done before the prompt is sent; return why that failed."""
        ...

    async def log_in(self, error: Error) -> Failure | None:
        """Log in, as the agent demanded by `error`; return why that failed."""
        ...

    def take_notes(self) -> list[str]:
        """Return what the log should say about the session."""
        ...

"""The contract of an agent: what Eliza, ACP agents and Open Responses endpoints all satisfy.

An `Agent` is one definition (one child process, one endpoint). It opens sessions; a session keeps
the conversation and runs one turn at a time. A turn is a channel of batches of events:

- `Say` and `Think` and `Attach` stream out, `Counted` tells what they cost;
- `CallTool` and `AskPermission` need an answer from the editor's side. When the agent can't go on
without the answers, it sends `Await`. The response to the editor ends there, the turn stays open,
and the answers come through `AgentSession.answer`;
- `Elicit` asks the user for input and needs an answer, too, but the response goes on meanwhile.
`TakeBack` withdraws it. A turn that ends needs no answer any more;
- exactly one `Stop` or `Break` is the last event; after it the channel is at its end.

An agent that can't go on at all raises `AgentError`: the session is lost, and the next turn opens
another. A session may outlive our side: `handle` is the agent's name for it. An `Origin` asks for
the session again, or for a fork. The agent may not have it any more, so `knows_history` tells
whether that worked; where it didn't, the session is a fresh one.

Nothing here knows an actor, a request or the wire to the editor.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeAlias, TypeVar

import trio

from bridge.errors import Failure, LocalError
from bridge.wire import Settings, ToolSpec

from .events import Answer, Batch, Prompt
from .origin import FRESH, Origin


class AgentError(Exception):
    """The agent's session is lost; `failure` says what a user can do about it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def no_account(name: str) -> AgentError:
    """Return the error of an agent that has no login."""
    return AgentError(Failure("NotFound", f"{name} has no login."))


def no_sessions(name: str) -> AgentError:
    """Return the error for an agent that keeps no sessions."""
    return AgentError(Failure("NotFound", f"{name} keeps no sessions that could be continued."))


Turn: TypeAlias = trio.abc.ReceiveChannel[Batch]


class RunningTurn(Protocol):
    """A turn that takes answers and a cancel itself."""

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and somebody to receive it."""
        ...

    def answer(self, answer: Answer) -> None:
        """Take an answer."""
        ...

    def cancel(self) -> None:
        """Stop soon."""
        ...


TurnT = TypeVar("TurnT", bound=RunningTurn)


class OneTurn(Generic[TurnT]):
    """A part of a session: its newest turn, which gets the answers and the cancel."""

    _turn: TurnT | None = None

    def _check_over(self) -> None:
        """Raise `LocalError` if the turn still runs: a session runs one turn at a time."""
        if self._turn is not None and self._turn.runs:
            raise LocalError("a turn of this session still runs; receive its last event first")

    def answer(self, answer: Answer) -> None:
        """Hand one answer to the turn."""
        if self._turn is not None:
            self._turn.answer(answer)

    async def cancel(self) -> None:
        """Ask the running turn to stop."""
        if self._turn is not None:
            self._turn.cancel()
        await trio.lowlevel.checkpoint()


class AgentSession(Protocol):
    """A conversation that the agent remembers; one turn at a time."""

    @property
    def handle(self) -> str | None:
        """The name that finds the session again after it was closed or lost; None if nothing does.

        It is safe to rely on only where the last turn ended by a `Stop` of the agent's own.
        """
        ...

    @property
    def knows_history(self) -> bool:
        """Whether it began with what the session in its origin knows.

        If not, the caller sends the history with the first prompt.
        """
        ...

    @property
    def lost(self) -> Failure | None:
        """Why it is to serve no further turn, as far as is known; one may raise `AgentError`."""
        ...

    @property
    def has_own_process(self) -> bool:
        """Whether it takes a process for itself, which closing it frees for others."""
        ...

    @property
    def process(self) -> int | None:
        """The id of the process in which it runs; None where it needs none."""
        ...

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return whether the agent can get these tools of the editor's in this session."""
        ...

    async def renew(self, prompt: Prompt) -> None:
        """Take the newest request's tools, options and system prompt, where the open turn goes on.

        It is called before the answers of that request; messages come with the next turn.
        """
        ...

    def run(self, prompt: Prompt) -> Turn:
        """Begin a turn. Receiving from the turn raises `AgentError` if the session is lost."""
        ...

    def answer(self, answer: Answer) -> None:
        """Hand over one answer; an id that nobody waits for (any more) has no effect."""
        ...

    async def cancel(self) -> None:
        """Ask the running turn to stop. It still ends by its last event, which must be received."""
        ...


SessionT = TypeVar("SessionT", bound=AgentSession)


class WrappedSession(AgentSession, Generic[SessionT]):
    """A session before another one, which it leaves as it is; a subclass overrides what differs."""

    def __init__(self, session: SessionT) -> None:
        self.session = session

    @property
    def handle(self) -> str | None:
        """As the other session has it."""
        return self.session.handle

    @property
    def knows_history(self) -> bool:
        """As the other session has it."""
        return self.session.knows_history

    @property
    def lost(self) -> Failure | None:
        """As the other session has it."""
        return self.session.lost

    @property
    def has_own_process(self) -> bool:
        """As the other session has it."""
        return self.session.has_own_process

    @property
    def process(self) -> int | None:
        """As the other session has it."""
        return self.session.process

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return what the other session says."""
        return self.session.can_offer(tools, settings)

    async def renew(self, prompt: Prompt) -> None:
        """Pass the newest request on."""
        await self.session.renew(prompt)

    def run(self, prompt: Prompt) -> Turn:
        """Begin a turn of the other session."""
        return self.session.run(prompt)

    def answer(self, answer: Answer) -> None:
        """Pass one answer on."""
        self.session.answer(answer)

    async def cancel(self) -> None:
        """Ask the turn of the other session to stop."""
        await self.session.cancel()


class Agent(Protocol):
    """An agent definition that can open sessions."""

    async def prepare(self) -> None:
        """Get what has to be there before a session can be opened, such as a download.

        It may take minutes, and be cancelled. Raises `AgentError` on failure.
        """
        await trio.lowlevel.checkpoint()

    def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AbstractAsyncContextManager[AgentSession]:
        """Open a session, closed on exit; `prompt` is the first turn's (tools, settings).

        Its messages are the whole chat so far; none if that is long, or no chat of the user's.
        If the session in `origin` isn't available, a new one is opened: see its `knows_history`.
        Raises `AgentError` if the agent isn't available.
        """
        ...

"""The Session Actor: holds one agent session and pushes what the agent says to the History Actor.

It owns the session: opens it for the first delivery, replaces it when it remembers what was
withdrawn or when it broke, closes it when the handle is closed. Deliveries don't queue: a request
repeats the whole history, so a newer delivery makes an older one obsolete. An aborted turn is
drained to its stop before the next prompt; an agent that doesn't stop in `DRAIN_SECONDS` loses its
session.
"""

from __future__ import annotations

import enum
import logging
import math
from collections.abc import Iterable, Sequence

import attrs
import trio

from agents.base import Agent, AgentError, AgentSession, Turn
from agents.events import (
    Answer,
    AskPermission,
    Attach,
    Await,
    Break,
    CallTool,
    Decision,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.router import ConversationKey
from bridge.wire import ChatMessage, Part

from .inbox import Ended, Expired, Failed, FromSession, Said
from .outbox import Outbox
from .plan import Delivery, Question, decide, plan
from .presentation import Presenter

DRAIN_SECONDS = 5.0
"""How long a cancelled turn may take to end."""

log = logging.getLogger("vscodelm.session")


class SessionHandle:
    """The History Actor's end of a session actor. Nothing here waits."""

    def __init__(self) -> None:
        self._next: Delivery | None = None
        self._news = trio.Event()
        self._aborted = 0
        self._scope: trio.CancelScope | None = None
        self._closed = False

    def deliver(self, delivery: Delivery) -> None:
        """Hand over a request; one that wasn't taken yet is obsolete."""
        self._next = delivery
        self._news.set()

    def abort(self, turn: int) -> None:
        """Stop `turn` and every earlier one, delivered or not."""
        self._aborted = turn
        if self._scope is not None:
            self._scope.cancel()

    def close(self) -> None:
        """End the actor, and its session with it."""
        self._closed = True
        self._news.set()

    def is_aborted(self, turn: int) -> bool:
        """Return whether `turn` was aborted."""
        return turn <= self._aborted

    def abortable(self, turn: int) -> trio.CancelScope:
        """Return a scope that is cancelled when `turn` is aborted."""
        self._scope = trio.CancelScope()
        if self.is_aborted(turn):
            self._scope.cancel()
        return self._scope

    async def receive(self) -> Delivery | None:
        """Wait for a delivery that is still wanted; None when the handle was closed."""
        while True:
            if self._closed:
                return None
            delivery, self._next = self._next, None
            if delivery is not None and not self.is_aborted(delivery.turn):
                return delivery
            self._news = trio.Event()
            await self._news.wait()


class _Lost(Exception):
    """The agent didn't stop in time; its session is of no more use."""


class _Paused(enum.Enum):
    """Why a response ends here."""

    STOPPED = enum.auto()
    AWAITING = enum.auto()
    FAILED = enum.auto()


@attrs.define(eq=False)
class SessionActor:
    """The task of one conversation."""

    conversation: ConversationKey
    agent: Agent
    handle: SessionHandle
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    _turn: Turn | None = attrs.field(default=None, init=False)
    """The agent's open turn."""
    _questions: list[Question] = attrs.field(factory=list["Question"], init=False)
    """What the open turn waits for."""
    _known: int | None = attrs.field(default=None, init=False)
    """How many steps of the path the session was given; None: it is fresh."""
    _backlog: tuple[ChatMessage, ...] = attrs.field(default=(), init=False)
    """What was said but not yet prompted, because the open turn comes first."""
    _again: Delivery | None = attrs.field(default=None, init=False)
    """The delivery that needs another session."""
    _idle_seconds: float = attrs.field(default=math.inf, init=False)

    async def run(self) -> None:
        """Serve deliveries until the handle is closed."""
        async with self.inbox:
            delivery = await self._receive()
            while delivery is not None:
                await self._live(delivery)
                again = self._again
                wanted = again is not None and not self.handle.is_aborted(again.turn)
                delivery = again if wanted else await self._receive()

    async def _live(self, delivery: Delivery) -> None:
        """Serve deliveries with one agent session, for as long as it is of use."""
        self._turn, self._known, self._backlog, self._again = None, None, (), None
        self._questions.clear()
        serving, failure = delivery, None
        try:
            async with self.agent.session(_prompt(delivery)) as session:
                upcoming: Delivery | None = delivery
                while upcoming is not None:
                    serving = upcoming
                    if not await self._serve(session, serving):
                        break
                    upcoming = await self._receive()
                await self._stop(session)
        except* AgentError as group:
            failure = _first(group).failure
        except* _Lost:
            log.warning("conversation=%s the agent did not stop in time", self.conversation)
        if failure is not None and self._again is None:
            await self.inbox.send(Failed(self.conversation, serving.turn, failure))

    async def _serve(self, session: AgentSession, delivery: Delivery) -> bool:
        """Serve one delivery; return False if it needs another session."""
        todo = plan(delivery, self._known, self._questions if self._turn else None)
        self._idle_seconds = delivery.settings.idle_seconds
        if todo.rewind or todo.abandon:
            self._again = delivery  # should the agent not stop, another session serves it
        if todo.rewind:
            return False
        if todo.abandon:
            await self._stop(session)  # to its end, even if this delivery is aborted meanwhile
            self._again = None
        if self.handle.is_aborted(delivery.turn):
            return True  # before the agent saw it: it is told with the next delivery
        with self.handle.abortable(delivery.turn) as scope:
            if delivery.withdrawn:
                self._backlog = ()  # it was taken back before it was prompted
            self._backlog += todo.prompt
            transcript = delivery.transcript
            before = transcript.messages(0, delivery.new_from) if self._known is None else ()
            self._known = len(transcript.path)
            await self._answer(session, delivery, todo.answers, before)
        if scope.cancelled_caught:
            await self._stop(session)
        return True

    async def _answer(
        self,
        session: AgentSession,
        delivery: Delivery,
        answers: Sequence[Answer],
        transcript: tuple[ChatMessage, ...],
    ) -> None:
        """Bring the agent to say what it has to say to one request."""
        presenter = Presenter(delivery.capabilities, delivery.settings.thinking)
        paused = _Paused.STOPPED
        if self._turn is not None:
            self._questions.clear()
            for answer in answers:
                session.answer(answer)
            paused = await self._pump(session, self._turn, delivery, presenter)
        if paused is _Paused.STOPPED and (self._backlog or not answers):
            messages, self._backlog = self._backlog, ()
            self._turn = session.run(_prompt(delivery, messages, transcript))
            paused = await self._pump(session, self._turn, delivery, presenter)
        if paused is not _Paused.FAILED:
            await self.inbox.send(Ended(self.conversation, delivery.turn))

    async def _pump(
        self, session: AgentSession, turn: Turn, delivery: Delivery, presenter: Presenter
    ) -> _Paused:
        """Pass on what the agent says until its turn ends or waits."""
        async for batch in turn:
            parts: list[Part] = []
            paused: _Paused | Failure | None = None
            for event in batch:
                match event:
                    case Say() | Think() | Attach():
                        part = presenter.part(event)
                    case CallTool() | AskPermission():
                        part = self._ask(session, event, delivery, presenter)
                    case Await():
                        part = None
                        paused = _Paused.AWAITING if self._questions else None
                    case Stop(reason=reason):
                        part = presenter.notice(reason)
                        paused = _Paused.STOPPED
                    case Break(failure=failure):
                        part = None
                        paused = failure
                if part is not None:
                    parts.append(part)
            if parts:
                await self.outbox.room()  # an editor that doesn't read stops the agent here
                await self.inbox.send(Said(self.conversation, delivery.turn, parts))
            if paused is not _Paused.AWAITING and paused is not None:
                self._turn = None
            if isinstance(paused, Failure):
                await self.inbox.send(Failed(self.conversation, delivery.turn, paused))
                return _Paused.FAILED
            if paused is not None:
                return paused
        raise AgentError(
            Failure("AgentFailed", "The agent's turn ended without a word of why; try again.")
        )

    def _ask(
        self,
        session: AgentSession,
        question: Question,
        delivery: Delivery,
        presenter: Presenter,
    ) -> Part | None:
        """Put a question to the editor, or answer it here where the editor can't."""
        match question:
            case CallTool(call_id=call_id, name=name):
                if all(tool.name != name for tool in delivery.tools):
                    session.answer(ToolAnswer(call_id, f"{name} is not offered.", is_error=True))
                    return None
            case AskPermission(call_id=call_id):
                decision = decide(question, delivery.settings, can_ask=delivery.can_ask)
                if decision is not None:
                    session.answer(PermissionAnswer(call_id, decision))
                    return None
        self._questions.append(question)
        return presenter.part(question)

    async def _stop(self, session: AgentSession) -> None:
        """Cancel the open turn and drain it to its end; what it still asks is answered."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        with trio.move_on_after(DRAIN_SECONDS) as scope:
            _abandon(session, self._questions)
            await session.cancel()
            async for batch in turn:
                _abandon(session, [e for e in batch if isinstance(e, CallTool | AskPermission)])
        self._questions.clear()
        if scope.cancelled_caught:
            raise _Lost

    async def _receive(self) -> Delivery | None:
        while True:
            with trio.move_on_after(self._idle_seconds):
                return await self.handle.receive()
            await self.inbox.send(Expired(self.conversation))


def _abandon(session: AgentSession, questions: Iterable[Question]) -> None:
    for question in questions:
        match question:
            case CallTool(call_id=call_id):
                session.answer(ToolAnswer(call_id, "The turn was cancelled.", is_error=True))
            case AskPermission(call_id=call_id):
                session.answer(PermissionAnswer(call_id, Decision.ABANDONED))


def _prompt(
    delivery: Delivery,
    messages: tuple[ChatMessage, ...] = (),
    transcript: tuple[ChatMessage, ...] = (),
) -> Prompt:
    return Prompt(
        messages=messages,
        transcript=transcript,
        tools=delivery.tools,
        tool_required=delivery.options.tool_mode in ("required", 2),
        model_options=delivery.options.model_options,
        settings=delivery.settings,
    )


def _first(group: BaseExceptionGroup[AgentError]) -> AgentError:
    """Return the first error in a group of groups."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner

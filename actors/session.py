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
from msgspec.structs import replace

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
from bridge.index import ConversationKey
from bridge.wire import ChatMessage, DataPart, Part

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
        self._waiting: list[Delivery] = []
        """What was delivered and the agent hasn't seen, the newest last."""
        self._received = 0
        self._news = trio.Event()
        self._aborted = 0
        self._scope: trio.CancelScope | None = None
        self._closed = False

    def deliver(self, delivery: Delivery) -> None:
        """Hand over a request. It repeats the history, so it makes what waits obsolete."""
        if delivery.withdrawn and self._waiting:
            # What is taken back, the agent never saw; what that took back, it may have seen.
            obsolete = self._waiting.pop()
            delivery = replace(delivery, withdrawn=obsolete.withdrawn)
        self._waiting.append(delivery)
        self._news.set()

    def skipped(self) -> tuple[ChatMessage, ...]:
        """Return what the agent missed: the messages of deliveries before the newest."""
        return tuple(
            message
            for one in self._waiting[:-1]
            for message in one.transcript.messages(one.new_from)
        )

    def take_up(self) -> None:
        """Note that the agent sees the newest delivery now, and what it missed."""
        self._waiting.clear()

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
            newest = self._waiting[-1] if self._waiting else None
            if newest and newest.turn > self._received and not self.is_aborted(newest.turn):
                self._received = newest.turn
                withdrawn = any(one.withdrawn for one in self._waiting)
                return replace(newest, withdrawn=withdrawn)
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
    _fresh: bool = attrs.field(default=True, init=False)
    """Whether the session was given nothing yet."""
    _backlog: tuple[ChatMessage, ...] = attrs.field(default=(), init=False)
    """What was said but not yet prompted, because the open turn comes first."""
    _next: Delivery | None = attrs.field(default=None, init=False)
    """The delivery that no agent has seen yet. One that was served is let go of at once, because it
    holds the whole request."""
    _serving: int = attrs.field(default=0, init=False)
    """The turn of the newest delivery that an agent saw, or a session is opened for."""
    _idle_seconds: float = attrs.field(default=math.inf, init=False)

    async def run(self) -> None:
        """Serve deliveries until the handle is closed."""
        async with self.inbox:
            while True:
                if self._next is None or self.handle.is_aborted(self._next.turn):
                    self._next = await self._receive()
                if self._next is None:
                    return
                await self._live()

    async def _live(self) -> None:
        """Serve deliveries with one agent session, for as long as it is of use."""
        assert self._next is not None, "a session is opened for a delivery"
        self._turn, self._fresh, self._backlog, self._serving = None, True, (), self._next.turn
        self._questions.clear()
        opened, failure = False, None
        try:
            async with self.agent.session(_prompt(self._next)) as session:
                opened = True
                while self._next is not None and await self._serve(session):
                    self._next = await self._receive()
                await self._stop(session)
        except* AgentError as group:
            failure = _first(group).failure
        except* _Lost:
            log.warning("conversation=%s the agent did not stop in time", self.conversation)
        if failure is not None and (self._next is None or not opened):
            self._next = None
            await self.inbox.send(Failed(self.conversation, self._serving, failure))

    async def _serve(self, session: AgentSession) -> bool:
        """Serve the next delivery; return False, and leave it, if it needs another session."""
        delivery = self._next
        assert delivery is not None, "there is something to serve"
        self._idle_seconds = delivery.settings.idle_seconds
        todo = plan(
            delivery,
            fresh=self._fresh,
            skipped=self.handle.skipped(),
            open_questions=self._questions if self._turn else None,
        )
        if todo.rewind:
            return False
        if todo.abandon:
            await self._stop(session)  # to its end, even if this delivery is aborted meanwhile
        self._next = None
        if self.handle.is_aborted(delivery.turn):
            return True  # before the agent saw it: it is told with the next delivery
        self.handle.take_up()
        self._serving = delivery.turn
        before = delivery.transcript.messages(0, delivery.new_from) if self._fresh else ()
        self._fresh = False
        self._backlog = todo.prompt if delivery.withdrawn else (*self._backlog, *todo.prompt)
        with self.handle.abortable(delivery.turn) as scope:
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
            if delivery.marker is not None:
                marker = DataPart("stateful_marker", delivery.marker)
                await self.inbox.send(Said(self.conversation, delivery.turn, [marker]))
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

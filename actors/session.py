"""The Session Actor: holds one agent session and pushes what the agent says to the History Actor.

It owns the session: opens it for the first delivery, replaces it when it remembers what was
withdrawn or when it broke, closes it when the handle is closed. One that takes a process for itself
is also closed when the chat goes on elsewhere (`SessionHandle.supersede`). A session that the agent
has already and that knows the chat is gone on with (`actors.lease`); every other one is told the
transcript.

Deliveries don't queue: a request repeats the whole history, so a newer delivery makes an older one
obsolete. An aborted turn is drained to its stop before the next prompt; an agent that doesn't stop
in `DRAIN_SECONDS` loses its session.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs
import trio

from agents.base import Agent, AgentSession, Turn
from agents.boundary import contained, failure_of
from agents.breather import Breather
from agents.events import Answer, AskPermission, CallTool
from bridge.errors import Failure
from bridge.gauge import Gauge
from bridge.index import ConversationKey
from bridge.wire import ChatMessage

from .beginning import Start, Why
from .handle import SessionHandle
from .inbox import Began, Expired, Failed, FromSession, Gauged
from .lease import Lease
from .outbox import Outbox
from .plan import Delivery, Question, abandoned, plan
from .response import Pause, Response

DRAIN_SECONDS = 5.0
"""How long a cancelled turn may take to end."""
ANSWER_SECONDS = 86_400.0
"""How long a question to the user is kept, however soon the chat would be idle: a person may be at
lunch when an agent asks, and the answer must find who asked."""

log = logging.getLogger("vscodelm.session")


class _Lost(Exception):
    """The agent didn't stop in time; its session is of no more use."""


@attrs.define
class OpenSessions:
    """Counts the agents' sessions that are open, for `lm/stats`."""

    count: int = attrs.field(default=0, init=False)


@attrs.define(eq=False)
class SessionActor:
    """The task of one conversation."""

    conversation: ConversationKey
    agent: Agent
    handle: SessionHandle
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    lease: Lease
    open: OpenSessions = attrs.field(factory=OpenSessions)
    _turn: Turn | None = attrs.field(default=None, init=False)
    """The agent's open turn."""
    _questions: list[Question] = attrs.field(factory=list["Question"], init=False)
    """What the open turn waits for."""
    _is_fresh: bool = attrs.field(default=True, init=False)
    """Whether it is to be told what was said before, but for what the lease says that it knows."""
    _is_used: bool = attrs.field(default=False, init=False)
    """Whether it was given something by us."""
    _is_rewound: bool = attrs.field(default=False, init=False)
    """Whether it remembers what was withdrawn, because the user wants to keep it all the same."""
    _gauge: Gauge = attrs.field(factory=Gauge, init=False)
    _backlog: tuple[ChatMessage, ...] = attrs.field(default=(), init=False)
    """What was said but not yet prompted, because the open turn comes first."""
    _next: Delivery | None = attrs.field(default=None, init=False)
    """The delivery that no agent has seen yet. One that was served is let go of at once, because it
    holds the whole request."""
    _serving: int = attrs.field(default=0, init=False)
    """The turn of the newest delivery that an agent saw, or a session is opened for."""

    async def run(self) -> None:
        """Serve deliveries until the handle is closed."""
        async with self.inbox:
            try:
                while True:
                    if self._next is not None and self.handle.is_aborted(self._next.turn):
                        self._next = None  # it isn't held while nothing comes
                    if self._next is None:
                        self._next = await self._receive()
                    if self._next is None:
                        break
                    await self._live()
            finally:
                with contained(f"conversation={self.conversation}"):
                    self.lease.give_back()

    async def _live(self) -> None:
        """Serve deliveries with one agent session, for as long as it is of use."""
        assert self._next is not None, "a session is opened for a delivery"
        self._turn, self._backlog, self._serving = None, (), self._next.turn
        self._is_used = self._is_rewound = False
        self._gauge = Gauge()
        self._questions.clear()
        opened, failure = False, None
        try:
            with self.handle.opening():
                if not await self._prepare(self._next.turn):
                    return
                origin = await self.lease.find(self._next)
                async with self.agent.session(self._next.prompt(), origin) as session:
                    self.handle.opened()
                    opened = True
                    self.open.count += 1
                    await self.lease.take(session, origin)
                    self._is_fresh = self.lease.start is not Start.RESUMED
                    while self._next is not None and await self._serve(session):
                        self._next = await self._receive_or_rest(session)
                    await self._stop(session)
        except* _Lost:
            log.warning("conversation=%s the agent did not stop in time", self.conversation)
            self.lease.why = Why.LOST
        except* Exception as group:
            failure = failure_of(group, f"conversation={self.conversation}")
            self.lease.why = Why.LOST if opened else self.lease.why
        finally:
            self.handle.opened()  # or it never will be
            self.open.count -= opened
        if failure is None or (self._next is not None and opened and failure.kind != "Internal"):
            return  # a session was lost between two turns: another one serves the delivery
        turn = self._serving if self._next is None else self._next.turn
        self._next = None
        self.handle.give_up(turn)
        await self.inbox.send(Failed(self.conversation, turn, failure))

    async def _prepare(self, turn: int) -> bool:
        """Have the agent get what it needs first; return False where the turn is aborted."""
        with self.handle.abortable(turn) as scope:
            await self.agent.prepare()
        return not scope.cancelled_caught

    async def _serve(self, session: AgentSession) -> bool:
        """Serve the next delivery; return False, and leave it, if it needs another session."""
        delivery = self._next
        assert delivery is not None, "there is something to serve"
        if self._turn is None and not await self._is_of_use(session, delivery):
            return False
        todo = plan(
            delivery,
            fresh=self._is_fresh,
            skipped=self.handle.skipped(),
            open_questions=self._questions if self._turn else None,
        )
        if todo.rewind:
            return False
        for call_id in todo.dropped:
            reason = "the user has moved on"
            log.info(
                "conversation=%s call=%s result dropped: %s", self.conversation, call_id, reason
            )
        if todo.abandon:
            await self._stop(session)  # to its end, even if this delivery is aborted meanwhile
            if not await self._is_of_use(session, delivery):
                return False
        before: tuple[ChatMessage, ...] = ()
        if self._is_fresh and not self.handle.is_aborted(delivery.turn):
            before = await Breather().do(delivery.before(self.lease.known))
        if not await self._may_begin(delivery.turn):
            return False
        self._next = None
        if self.handle.is_aborted(delivery.turn):
            return True  # before the agent saw it: it is told with the next delivery
        self.handle.take_up()
        self._serving = delivery.turn
        began = None if self._is_used else self._began(delivery, before)
        self._is_rewound = self._is_rewound or (delivery.withdrawn and not self._is_fresh)
        self._is_used, self._is_fresh = True, False
        self._backlog = todo.prompt if delivery.withdrawn else (*self._backlog, *todo.prompt)
        if began is not None:
            await self.inbox.send(began)
        has_settled = False
        with self.handle.abortable(delivery.turn) as scope:
            has_settled = await self._answer(session, delivery, todo.answers, before)
        if scope.cancelled_caught:
            await self._stop(session)
        elif has_settled and not self._is_rewound:
            self.handle.head = self.lease.settle()
        return True

    async def _is_of_use(self, session: AgentSession, delivery: Delivery) -> bool:
        """Return whether a session that runs no turn can begin one."""
        if not self._is_used:
            return await self.lease.fits(delivery)  # whatever else it lacks, so would the next one
        if session.lost is not None:
            log.info("conversation=%s lost=%s", self.conversation, session.lost.message)
            self.lease.why = Why.LOST
            return False
        if not session.can_offer(delivery.tools):
            log.info("conversation=%s was opened without tools", self.conversation)
            self.lease.why = Why.TOOLS
            return False
        return True

    async def _may_begin(self, turn: int) -> bool:
        """Return whether the session is ours to give it something, and note that it is given."""
        return self._turn is not None or self.handle.is_aborted(turn) or await self.lease.begin()

    def _began(self, delivery: Delivery, before: Sequence[ChatMessage]) -> Began:
        start = self.lease.start
        if before and start is Start.FRESH:
            start = Start.REPLAYED
        return Began(self.conversation, delivery.turn, start, self.lease.why, len(before))

    async def _answer(
        self,
        session: AgentSession,
        delivery: Delivery,
        answers: Sequence[Answer],
        transcript: tuple[ChatMessage, ...],
    ) -> bool:
        """Bring the agent to say what it has to say to one request.

        Return whether it came to an end with that by itself.
        """
        response = Response(
            self.conversation, delivery, session, self._questions, self.inbox, self.outbox
        )
        pause: Pause | Failure = Pause.STOPPED
        if self._turn is not None:
            self._questions.clear()
            await session.renew(delivery.prompt())  # before it goes on with what it knows
            for answer in answers:
                session.answer(answer)
            pause = await self._pass_on(response, self._turn)
        has_stopped = pause in (Pause.STOPPED, Pause.CANCELLED)
        if has_stopped and (self._backlog or not answers):
            messages, self._backlog = self._backlog, ()
            self._turn = session.run(delivery.prompt(messages, transcript))
            pause = await self._pass_on(response, self._turn)
        await self._measure(delivery, response.counts)
        if isinstance(pause, Failure):
            await self.inbox.send(Failed(self.conversation, delivery.turn, pause))
            return False
        has_settled = pause is Pause.STOPPED
        await response.end(session.handle if has_settled and not self._is_rewound else None)
        return has_settled

    async def _measure(self, delivery: Delivery, counts: Sequence[int]) -> None:
        """Learn from a count; several are each of something else than the request."""
        if len(counts) == 1 and not self._is_rewound:
            measured = self._gauge.take(delivery.transcript, delivery.tools, counts[0])
            if measured is not None:
                await self.inbox.send(Gauged(delivery.model, measured))

    async def _pass_on(self, response: Response, turn: Turn) -> Pause | Failure:
        pause = await response.pass_on(turn)
        if pause is not Pause.AWAITING:
            self._turn = None
        return pause

    async def _stop(self, session: AgentSession) -> None:
        """Cancel the open turn and drain it to its end; what it still asks is answered."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        with trio.move_on_after(DRAIN_SECONDS) as scope:
            for question in self._questions:
                session.answer(abandoned(question))
            await session.cancel()
            async for batch in turn:
                for event in batch:
                    if isinstance(event, CallTool | AskPermission):
                        session.answer(abandoned(event))
        self._questions.clear()
        if scope.cancelled_caught:
            raise _Lost

    async def _receive_or_rest(self, session: AgentSession) -> Delivery | None:
        """Wait for a delivery; None, too, where the session is to be closed meanwhile.

        One that takes no process for itself costs little, and one with an open turn waits for its
        user: both stay.
        """
        if self._turn is not None or not session.has_own_process:
            return await self._receive()
        with self.handle.resting():
            return await self._receive()
        log.info("conversation=%s superseded: its session is closed", self.conversation)
        self.lease.why = Why.SUPERSEDED
        return None

    async def _receive(self) -> Delivery | None:
        while True:
            idle_seconds = self.handle.idle_seconds
            patience = max(idle_seconds, ANSWER_SECONDS if self._questions else 0.0)
            with trio.move_on_after(patience):
                return await self.handle.receive()
            await self.inbox.send(Expired(self.conversation))

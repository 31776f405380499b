"""The Session Actor: holds one agent session and pushes what the agent says to the History Actor.

It owns the session: it opens one for the first delivery, and another one if that one broke or
remembers withdrawn messages. The machine in `actors.continuity.machine` decides all this. The actor
waits, reports events to the machine and carries out its effects.

Deliveries don't queue: a request repeats the whole history, so a newer delivery makes an older one
obsolete. An aborted turn is drained to its stop before the next prompt; an agent that doesn't stop
in `DRAIN_SECONDS` loses its session.
"""

from __future__ import annotations

import logging
from typing import assert_never

import attrs
import trio

from agents.base import Agent, AgentSession
from agents.boundary import contained, failure_of
from agents.breather import Breather
from agents.origin import Origin
from bridge.routing.index import ConversationKey
from bridge.wire import ChatMessage

from .beginning import Why
from .continuity import effects, events
from .continuity.machine import SessionMachine
from .mailbox import Mailbox
from .memory import AgentMemory
from .messages import Began, Expired, Failed, FromSession
from .outbox import Outbox
from .plan import Delivery, waits_for_user
from .response import SessionTurns, StuckTurn

ANSWER_SECONDS = 86_400.0
"""Seconds that a question to the user is kept, even if the chat would be idle sooner. A person may
be at lunch when an agent asks, and the answer must still reach the agent."""

log = logging.getLogger("vscodelm.session")


@attrs.define(eq=False, repr=False)
class OpenSessions:
    """Counts the agents' sessions that are open, for `lm/stats`."""

    count: int = attrs.field(default=0, init=False)


@attrs.define(eq=False, repr=False)
class SessionActor:
    """The task of one conversation."""

    conversation: ConversationKey
    agent: Agent
    mailbox: Mailbox
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    memory: AgentMemory
    open: OpenSessions = attrs.field(factory=OpenSessions)
    _machine: SessionMachine = attrs.field(factory=SessionMachine, init=False)
    _turns: SessionTurns | None = attrs.field(default=None, init=False)
    """The turns of the open session."""

    async def run(self) -> None:
        """Serve deliveries until the mailbox is closed."""
        async with self.inbox:
            try:
                while await self._wait_for_work():
                    await self._live()
            finally:
                with contained(f"conversation={self.conversation}"):
                    for effect in self._machine.apply(events.ConversationEnded()):
                        assert isinstance(effect, effects.ReleaseHandle), "nothing else is left"
                        self.memory.release(effect.handle)

    async def _wait_for_work(self) -> bool:
        """Wait until a delivery needs a session; return False if none comes any more."""
        if self._is_aborted():
            await self._report(events.DeliverySkipped())
        if self._machine.waiting is None:
            delivery = await self._receive()
            if delivery is None:
                return False
            await self._report(events.DeliveryReceived(delivery))
        return True

    async def _live(self) -> None:
        """Serve deliveries with one agent session, for as long as it is of use."""
        broke: events.SessionBroke | None = None
        try:
            with self.mailbox.opening():
                origin = await self._report(events.SessionWanted())
                if origin is not None:
                    async with self.agent.session(self._waiting.opening(), origin) as session:
                        await self._use(session)
        except* StuckTurn:
            log.info("conversation=%s the agent did not stop in time", self.conversation)
            broke = events.SessionBroke(None)
        except* Exception as group:
            broke = events.SessionBroke(failure_of(group, f"conversation={self.conversation}"))
        finally:
            self.open.count -= self._turns is not None
            self._turns = None
            self.mailbox.opened()  # or it never will be
        await self._report(broke)

    async def _use(self, session: AgentSession) -> None:
        """Serve deliveries with a session until it is to be closed."""
        self.mailbox.opened()
        self.open.count += 1
        self._turns = SessionTurns(self.conversation, session, self.inbox, self.outbox)
        await self._report(events.SessionOpened(session.handle, session.knows_history))
        await self._report(self._received(self._waiting))
        while self._machine.is_open and await self._serve_next():
            pass
        await self._turns.stop()

    async def _serve_next(self) -> bool:
        """Serve the next delivery; return False if the session is to be closed instead."""
        delivery = await self._receive()
        if delivery is not None:
            await self._report(self._received(delivery))
        return delivery is not None

    def _received(self, delivery: Delivery) -> events.DeliveryReceived:
        session = self._open_turns.session
        return events.DeliveryReceived(
            delivery,
            self.mailbox.unseen.missed(),
            tuple(self._open_turns.questions),
            is_lost=session.lost is not None,
            offers_tools=session.can_offer(delivery.tools, delivery.settings),
        )

    @property
    def _open_turns(self) -> SessionTurns:
        assert self._turns is not None, "a session is open"
        return self._turns

    @property
    def _waiting(self) -> Delivery:
        assert self._machine.waiting is not None, "a delivery waits"
        return self._machine.waiting

    def _is_aborted(self) -> bool:
        waiting = self._machine.waiting
        return waiting is not None and self.mailbox.is_aborted(waiting.turn)

    async def _report(self, event: events.SessionEvent | None) -> Origin | None:
        """Report an event to the machine, carry out its effects, and report what they lead to.

        Return where the session begins that is to be opened, if one is.
        """
        origin: Origin | None = None
        while event is not None:
            todo, event = self._machine.apply(event), None
            for effect in todo:
                if isinstance(effect, effects.OpenSession):
                    origin = effect.origin
                else:
                    event = await self._perform(effect)
        return origin

    async def _perform(self, effect: effects.SessionEffect) -> events.SessionEvent | None:
        match effect:
            case effects.PrepareAgent(turn=turn):
                return await self._prepare(turn)
            case effects.SearchMemory(path=path):
                found = await self.memory.find(path)
                if found is None:
                    return events.SearchEnded()
                return events.SearchEnded(found.handle, found.steps)
            case effects.CheckOrigin(handle=handle):
                return events.OriginChecked(await self.memory.has(handle))
            case effects.ForgetHandle(handle=handle, is_held=is_held):
                await self.memory.begin(handle)
                if not is_held:
                    self.memory.release(handle)
            case effects.ReleaseHandle(handle=handle):
                self.memory.release(handle)
            case effects.PreparePrompt():
                return await self._prepare_prompt(effect)
            case effects.BeginTurn(turn=turn, handle=handle):
                is_ours = handle is None or await self.memory.begin(handle)
                return self._take_up(turn) if is_ours else events.SessionTaken()
            case effects.ContinueTurn(turn=turn):
                return self._take_up(turn)
            case effects.Introduce(turn=turn, start=start, why=why, told=told):
                process = None if self._turns is None else self._turns.session.process
                await self.inbox.send(Began(self.conversation, turn, start, why, told, process))
            case effects.FailTurn(turn=turn, failure=failure):
                self.mailbox.unseen.give_up(turn)
                await self.inbox.send(Failed(self.conversation, turn, failure))
            case effects.AllowForks(head=head):
                self.mailbox.allow_forks(head)
            case effects.CloseSession(why=why):
                self._log_close(why)
            case effects.BeginResponse(delivery=delivery, is_in_step=is_in_step):
                self._open_turns.respond(delivery, is_in_step=is_in_step)
            case effects.DrainTurn():
                await self._open_turns.stop()
            case effects.DrainFirst():
                return await self._drain_first(effect)
            case (
                effects.PromptAgent()
                | effects.AnswerAgent()
                | effects.EndResponse()
                | effects.FailResponse()
            ):
                return await self._respond(effect)
            case effects.OpenSession():
                raise AssertionError("the loop opens sessions")
            case _:
                assert_never(effect)
        return None

    def _log_close(self, why: Why) -> None:
        lost = self._open_turns.session.lost
        if why is Why.LOST and lost is not None:
            log.info("conversation=%s lost=%s", self.conversation, lost.message)
        elif why is Why.TOOLS:
            log.info("conversation=%s was opened without tools", self.conversation)
        elif why is Why.SUPERSEDED:
            log.info("conversation=%s superseded: its session is closed", self.conversation)

    async def _prepare(self, turn: int) -> events.SessionEvent:
        try:
            with self.mailbox.abortable(turn) as scope:
                await self.agent.prepare()
        except Exception as error:
            failure = failure_of(error, f"conversation={self.conversation}")
            return events.PreparationFailed(failure)
        return events.DeliverySkipped() if scope.cancelled_caught else events.AgentPrepared()

    async def _prepare_prompt(self, effect: effects.PreparePrompt) -> events.SessionEvent:
        delivery, known = effect.delivery, effect.known
        before: tuple[ChatMessage, ...] = ()
        if known is not None and not self.mailbox.is_aborted(delivery.turn):
            before = await Breather().do(delivery.before(known))
        is_aborted = self.mailbox.is_aborted(delivery.turn)
        return events.DeliverySkipped() if is_aborted else events.PromptReady(before)

    def _take_up(self, turn: int) -> events.SessionEvent:
        """Note that the agent sees the delivery, unless it was aborted before."""
        if self.mailbox.is_aborted(turn):
            return events.DeliverySkipped()  # the agent gets it with the next delivery
        self.mailbox.unseen.clear()
        return events.PromptDue()

    async def _respond(self, effect: effects.ResponseEffect) -> events.SessionEvent:
        """Carry out a part of a response, which may be aborted meanwhile."""
        turns = self._open_turns
        end: events.SessionEvent = events.ResponseEnded()
        with self.mailbox.abortable(turns.turn) as scope:
            match effect:
                case effects.PromptAgent(messages=messages, before=before):
                    end = await turns.prompt(messages, before)
                case effects.AnswerAgent(answers=answers):
                    end = await turns.reply(answers)
                case effects.EndResponse(is_settled=is_settled):
                    await turns.end(is_settled=is_settled)
                case effects.FailResponse(failure=failure):
                    await turns.fail(failure)
                case _:
                    assert_never(effect)
        return events.TurnAborted() if scope.cancelled_caught else end

    async def _drain_first(self, effect: effects.DrainFirst) -> events.SessionEvent:
        for call_id in effect.dropped:
            log.info(
                "conversation=%s call=%s result dropped: the user has moved on",
                *(self.conversation, call_id),
            )
        turns = self._open_turns
        await turns.stop()  # to its end, even if this delivery is aborted meanwhile
        return events.TurnDrained(
            is_lost=turns.session.lost is not None,
            offers_tools=turns.session.can_offer(effect.tools, effect.settings),
        )

    async def _receive(self) -> Delivery | None:
        """Wait for a delivery; None if the mailbox or the session is to be closed."""
        expires_at = self._expires_at()
        while True:
            turns = self._turns
            with (
                trio.CancelScope(deadline=expires_at)
                if turns is None
                else self.mailbox.resting(expires_at)
            ):
                return await self.mailbox.receive()
            if turns is not None and self.mailbox.rested():
                await self._report(events.ChatSuperseded(turns.session.has_own_process))
                if not self._machine.is_open:
                    return None
            else:
                await self.inbox.send(Expired(self.conversation))
                expires_at = self._expires_at()

    def _expires_at(self) -> float:
        """Return until when a delivery is waited for."""
        asks = self._turns is not None and waits_for_user(self._turns.questions)
        patience = max(self.mailbox.idle_seconds, ANSWER_SECONDS if asks else 0.0)
        return trio.current_time() + patience

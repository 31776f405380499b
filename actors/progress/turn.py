"""A turn of an agent that is paused now and then, as `actors.progress.machine` decides.

A call of `vscodelm-progress` ends a response, and the answer to it goes on with the turn. If none
comes the user has stopped, and the agent is cancelled.

A missing answer is waited for in steps of one second. So the wait lasts as long on a machine that
sleeps meanwhile, also where the clock goes on during sleep: Linux and macOS stop it, Windows may
not.
"""

from __future__ import annotations

import logging
import secrets
from collections import deque

import attrs
import trio
from msgspec.structs import replace

from actors.plan import GO_ON
from agents.base import AgentSession, Turn
from agents.events import Answer, Batch, Break, Prompt, Stop
from bridge.history.progress_rounds import CALL_PREFIX

from .machine import (
    PacedEvent,
    PacedMachine,
    PacedStep,
    ends_as_cancelled,
    ends_response,
    unasked,
)
from .pace import STOPPED_SECONDS

MOST_KEPT = 256
"""Batches that an agent may still send after a stop; then it waits until somebody asks again."""

log = logging.getLogger("vscodelm.session")


@attrs.define(eq=False, repr=False)
class PacedTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn of the agent that is received in advance, because a receive can't be interrupted.

    Received batches wait in `_kept`. It has at most one, so an editor that doesn't read stops the
    agent. After a stop it may have more, because nobody else takes them.
    """

    session: AgentSession
    nursery: trio.Nursery
    _machine: PacedMachine
    _kept: deque[Batch] = attrs.field(factory=deque["Batch"], init=False)
    _error: Exception | None = attrs.field(default=None, init=False)
    """The error that ended the agent's turn, after the batches that are kept."""
    _changed: trio.lowlevel.ParkingLot = attrs.field(
        factory=trio.lowlevel.ParkingLot, init=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        self.respond(self._machine.prompt)
        self._run(self._machine.prompt)

    def respond(self, prompt: Prompt) -> None:
        """Begin a response."""
        self._machine.respond(prompt, trio.current_time())

    def answer(self, answer: Answer) -> bool:
        """Take an answer in; return whether it was one to a call of the progress tool."""
        is_progress = self._machine.answer(answer, trio.current_time())
        self._changed.unpark_all()  # what there is may be shown soon
        return is_progress

    def cancel(self) -> bool:
        """Note that the turn is cancelled; return whether the agent is to be told so."""
        steps = self._machine.apply(PacedEvent.CANCEL)
        self._changed.unpark_all()
        return PacedStep.STOP in steps

    async def receive(self) -> Batch:
        """Wait for the next batch, or for the time to show what there is."""
        await trio.lowlevel.checkpoint()
        machine = self._machine
        while not self._kept and self._error is None:
            if trio.current_time() >= machine.due:
                return self._pause()
            with trio.move_on_at(machine.due):
                await self._changed.park()
        if not self._kept:
            assert self._error is not None
            raise self._error
        batch = self._kept.popleft()
        self._changed.unpark_all()
        if ends_as_cancelled(batch) and PacedStep.GO_ON in machine.apply(PacedEvent.CANCELLED_END):
            batch, self._error = batch[:-1], None
            self._run(replace(machine.prompt, messages=(GO_ON,), transcript=()))
        now = trio.current_time()
        shown = machine.hear(batch, now)
        is_due = now >= machine.due and not ends_response(batch)
        return (*shown, *self._pause()) if is_due else shown

    async def aclose(self) -> None:
        """Close the turn; the agent's own is closed with its session."""
        await trio.lowlevel.checkpoint()

    def _pause(self) -> Batch:
        """End the response; return the events that do."""
        call = f"{CALL_PREFIX}{secrets.token_hex(8)}"
        batch = self._machine.pause(call, trio.current_time())
        if self._machine.waits_for(call):
            self.nursery.start_soon(self._watch, call, name="progress")
        return batch

    async def _watch(self, call: str) -> None:
        """Stop the agent if the call gets no result."""
        for _ in range(STOPPED_SECONDS):
            with trio.move_on_after(1):
                while self._machine.waits_for(call):
                    await self._changed.park()
                return
        log.info("progress=%s has no result: the user has stopped", call)
        steps = self._machine.apply(PacedEvent.NO_RESULT)
        kept, self._kept = self._kept, deque()
        self._kept.extend(filter(None, map(self._unasked, kept)))
        self._changed.unpark_all()
        if self._error is None and PacedStep.STOP in steps:
            await self.session.cancel()

    def _unasked(self, batch: Batch) -> Batch:
        left, answers = unasked(batch)
        for answer in answers:
            self.session.answer(answer)
        return left

    # The agent's turn.

    def _run(self, prompt: Prompt) -> None:
        self.nursery.start_soon(self._pump, self.session.run(prompt), name="paced turn")

    async def _pump(self, turn: Turn) -> None:
        """Receive what the agent says, for as long as its turn lasts."""
        machine = self._machine
        try:
            async for batch in turn:
                while self._kept and not (machine.is_stopped and len(self._kept) < MOST_KEPT):
                    await self._changed.park()
                said = self._unasked(batch) if machine.is_stopped else batch
                if said:
                    self._kept.append(said)
                if isinstance(batch[-1], Stop | Break):
                    break  # another turn may begin before the end of this one is received
                self._changed.unpark_all()
            self._error = trio.EndOfChannel()
        except Exception as error:
            self._error = error
        finally:
            self._changed.unpark_all()

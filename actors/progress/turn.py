"""A turn of an agent that is paused now and then, as `actors.progress.pace` says.

A call of `vscodelm-progress` ends a response, and the answer to it goes on with the turn. If none
comes the user has stopped, and the agent is cancelled.

A missing answer is waited for in steps of one second. So the wait lasts as long on a machine that
sleeps meanwhile, also where the clock goes on during sleep: Linux and macOS stop it, Windows may
not.
"""

from __future__ import annotations

import logging
import math
import secrets
from collections import deque
from collections.abc import Sequence

import attrs
import trio
from msgspec.structs import replace

from actors.plan import GO_ON, abandoned
from agents.base import AgentSession, Turn
from agents.events import (
    Answer,
    AskPermission,
    Await,
    Batch,
    Break,
    CallTool,
    Counted,
    Elicit,
    Event,
    Prompt,
    Say,
    Stop,
    StopReason,
    TakeBack,
    Think,
)
from bridge.history.progress_rounds import CALL_PREFIX
from bridge.wire import PROGRESS_TOOL

from .pace import FIRST_SECONDS, LONGEST_SECONDS, STOPPED_SECONDS, Pace

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
    tasks: trio.Nursery
    prompt: Prompt
    _pace: Pace = attrs.field(factory=Pace, init=False)
    _kept: deque[Batch] = attrs.field(factory=deque["Batch"], init=False)
    _error: Exception | None = attrs.field(default=None, init=False)
    """The error that ended the agent's turn, after the batches that are kept."""
    _open: set[str] = attrs.field(factory=set[str], init=False)
    """The agent's own questions in this response that wait for an answer."""
    _forms: set[str] = attrs.field(factory=set[str], init=False)
    """The calls of the forms that are open in this response."""
    _filled_in: float = attrs.field(default=-math.inf, init=False)
    """When the newest of them was answered."""
    _asked: float = attrs.field(default=-math.inf, init=False)
    """When the newest of them came."""
    _call: str | None = attrs.field(default=None, init=False)
    """The call of the progress tool that waits for its result."""
    _has_stopped: bool = attrs.field(default=False, init=False)
    """Whether the agent was cancelled, because no result came."""
    _is_cancelled: bool = attrs.field(default=False, init=False)
    """Whether the session actor has cancelled the turn."""
    _changed: trio.lowlevel.ParkingLot = attrs.field(
        factory=trio.lowlevel.ParkingLot, init=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        self.respond(self.prompt)
        self._run(self.prompt)

    def respond(self, prompt: Prompt) -> None:
        """Begin a response."""
        self.prompt = prompt
        self._open.clear()
        self._forms.clear()
        self._pace.respond(trio.current_time())

    def answer(self, answer: Answer) -> bool:
        """Take an answer in; return whether it was one to a call of the progress tool."""
        self._open.discard(answer.call_id)
        if answer.call_id in self._forms:
            self._forms.discard(answer.call_id)
            self._filled_in = trio.current_time()
            self._changed.unpark_all()  # what there is may be shown soon
        if answer.call_id != self._call:
            return False
        self._call = None
        self._changed.unpark_all()
        return True

    def cancel(self) -> bool:
        """Note that the turn is cancelled; return whether the agent was told so before."""
        self._is_cancelled = True
        self._changed.unpark_all()
        return self._has_stopped

    async def receive(self) -> Batch:
        """Wait for the next batch, or for the time to show what there is."""
        await trio.lowlevel.checkpoint()
        while not self._kept and self._error is None:
            if self._is_due():
                return self._paused(())
            with trio.move_on_at(self._due):
                await self._changed.park()
        if not self._kept:
            assert self._error is not None
            raise self._error
        batch = self._kept.popleft()
        self._changed.unpark_all()
        if self._has_stopped and not self._is_cancelled and _was_cancelled(batch):
            return self._again(batch)
        return self._noted(batch)

    async def aclose(self) -> None:
        """Close the turn; the agent's own is closed with its session."""
        await trio.lowlevel.checkpoint()

    def _noted(self, batch: Batch) -> Batch:
        for event in batch:
            match event:
                case Say() | Think():
                    self._pace.say(trio.current_time())
                case CallTool(call_id=call_id) | AskPermission(call_id=call_id):
                    self._open.add(call_id)
                    self._asked = trio.current_time()
                case Elicit(call_id=call_id):
                    self._forms.add(call_id)
                case TakeBack(call_id=call_id):
                    self._forms.discard(call_id)
                case _:
                    pass
        if self._pace.has_shown:  # the editor has more words by now than were counted
            batch = tuple(event for event in batch if not isinstance(event, Counted))
        is_last = any(isinstance(event, Stop | Break | Await) for event in batch)
        return self._paused(batch) if self._is_due() and not is_last else batch

    # Pauses.

    @property
    def _due(self) -> float:
        """When this response is to end; infinite if the agent ends it.

        An agent that needs an answer waits for it soon. If it doesn't, it took its question back.
        With the response a form would disappear, so the response waits for its user.
        """
        if not self.prompt.is_paced or self._is_cancelled:
            return math.inf
        if self._forms:
            return self._pace.latest
        due = max(self._pace.due, self._filled_in + FIRST_SECONDS)
        return max(due, self._asked + LONGEST_SECONDS) if self._open else due

    def _is_due(self) -> bool:
        return trio.current_time() >= self._due

    def _paused(self, batch: Sequence[Event]) -> Batch:
        """Return the batch, and a call after it that ends the response.

        A response with a question ends with that. No result comes before the user has answered.
        """
        self._pace.pause()
        if self._open:
            self._asked = trio.current_time()
            return (*batch, Await())
        call = self._call = f"{CALL_PREFIX}{secrets.token_hex(8)}"
        self.tasks.start_soon(self._watch, call, name="progress")
        return (*batch, CallTool(call, PROGRESS_TOOL, {}), Await())

    async def _watch(self, call: str) -> None:
        """Cancel the agent if the call gets no result."""
        for _ in range(STOPPED_SECONDS):
            with trio.move_on_after(1):
                while self._call == call and not self._is_cancelled:
                    await self._changed.park()
                return
        log.info("progress=%s has no result: the user has stopped", call)
        self._has_stopped = True
        self._abandon()
        self._changed.unpark_all()
        if self._error is None:
            await self.session.cancel()

    def _abandon(self) -> None:
        """Answer what the agent asks, because nobody else does."""
        kept, self._kept = self._kept, deque()
        self._kept.extend(filter(None, map(self._unasked, kept)))

    def _unasked(self, batch: Batch) -> Batch:
        for event in batch:
            if isinstance(event, CallTool | AskPermission | Elicit):
                self.session.answer(abandoned(event))
        return tuple(
            event
            for event in batch
            if not isinstance(event, CallTool | AskPermission | Elicit | Await)
        )

    def _again(self, batch: Batch) -> Batch:
        """Have the agent go on, because the user has not stopped; return what it had to say."""
        self._has_stopped, self._error = False, None
        self._run(replace(self.prompt, messages=(GO_ON,), transcript=()))
        return self._noted(batch[:-1])

    # The agent's turn.

    def _run(self, prompt: Prompt) -> None:
        self.tasks.start_soon(self._pump, self.session.run(prompt), name="paced turn")

    async def _pump(self, turn: Turn) -> None:
        """Receive what the agent says, for as long as its turn lasts."""
        try:
            async for batch in turn:
                while self._kept and not (self._has_stopped and len(self._kept) < MOST_KEPT):
                    await self._changed.park()
                said = self._unasked(batch) if self._has_stopped else batch
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


def _was_cancelled(batch: Batch) -> bool:
    last = batch[-1]
    return isinstance(last, Stop) and last.reason is StopReason.CANCELLED

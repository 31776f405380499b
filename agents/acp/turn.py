"""One turn with an ACP agent, as a channel of batches.

The first receive sends the prompt, so a turn that is cancelled before that costs the agent nothing.
`TurnMachine` decides. `AcpTurn` waits for news and for the clock, prepares the prompt, reads the
files that the agent has changed, and asks the editor which other files have changed meanwhile.
"""

from __future__ import annotations

import logging
import math

import attrs
import trio

from agents.acp.render.changed_files import look_at_changes
from agents.acp.schema.content import ContentBlock, ToolCall, ToolCallUpdate
from agents.base import AgentError
from agents.breather import Breather
from agents.events import Answer, Batch
from bridge.errors import Failure
from bridge.work import Work

from .turn_machine import TurnMachine
from .turn_ports import TurnChannel, TurnSession, TurnWatch
from .turn_states import Cancelling, Closing, PromptNotSent, PromptSent, TurnState

SETTLE_SECONDS = 0.5
"""Seconds that the editor takes to notice a change of a file, as it watches folders."""
STOPPED_SECONDS = 1.5
"""Seconds in which the changed files of a stopped turn, or of a dead agent, are asked for."""
SPARE_SECONDS = 1.0
"""Seconds that this leaves of a caller's deadline: beyond it the session is given up."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class AcpTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn; `writing` makes the blocks of the prompt, and begins with the first receive."""

    line: TurnChannel
    session: TurnSession
    writing: Work[tuple[ContentBlock, ...]]
    _machine: TurnMachine
    _blocks: tuple[ContentBlock, ...] | None = attrs.field(default=None, init=False)
    """The prompt, when it is written."""
    _waiting: trio.CancelScope | None = attrs.field(default=None, init=False)
    """A stop interrupts this: the preparation, or the look at the changed files."""
    _watch: TurnWatch | None = attrs.field(default=None, init=False)
    _called_at: float | None = attrs.field(default=None, init=False)
    """When the agent last said something of a call of a tool, while files are watched."""

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and the session is there to send it."""
        return self._machine.runs

    def answer(self, answer: Answer) -> None:
        """Take the first answer to a question that is open."""
        self._machine.answer(answer)

    def cancel(self) -> None:
        """Make the turn end as soon as the agent lets it."""
        if self.runs:
            self._stop(Cancelling())
        elif self._waiting is not None:  # the agent has died, and its files are looked for
            self._called_at = None  # nor does the next receive look for them
            self._waiting.cancel()

    def close(self) -> None:
        """Close the turn; a task that receives from it gets `trio.ClosedResourceError`."""
        self._stop(Closing())

    def _stop(self, event: Cancelling | Closing) -> None:
        self._machine.apply(event, trio.current_time())
        if self._waiting is not None:
            self._waiting.cancel()
        self.line.wake()
        self._forget()

    async def aclose(self) -> None:
        """Close the turn; it never waits for anything."""
        self.close()
        await trio.lowlevel.checkpoint()

    async def receive(self) -> Batch:
        """Return the next events."""
        await trio.lowlevel.checkpoint()
        while True:
            match self._machine.state:
                case TurnState.CLOSED:
                    raise trio.ClosedResourceError
                case TurnState.LOST if self._machine.failure is not None:
                    raise AgentError(self._machine.failure)
                case TurnState.OVER | TurnState.LOST:
                    raise trio.EndOfChannel
                case TurnState.NEW | TurnState.LOGIN | TurnState.UNSENT:
                    batch = await self._begin()
                case _:
                    batch = await self._go_on()
            self._forget()
            if batch:
                return batch

    def _forget(self) -> None:
        """Free what the turn holds when it is over: the prompt may be large."""
        state = self._machine.state
        if state in (TurnState.OVER, TurnState.LOST):
            self._blocks = ()
            self.writing.close()
        is_over = state in (TurnState.OVER, TurnState.LOST, TurnState.CLOSED)
        if is_over and self._watch is not None:
            self._watch.end()

    async def _begin(self) -> Batch:
        """Prepare the prompt, and send it."""
        machine = self._machine
        if self.line.lost is not None:
            raise AgentError(self.line.lost)
        failure: Failure | None = None
        if machine.state is not TurnState.UNSENT:
            with trio.CancelScope() as self._waiting:
                if self._blocks is None:
                    self._blocks = await Breather().do(self.writing)
                login = machine.login
                failure = await (
                    self.session.prepare() if login is None else self.session.log_in(login)
                )
            self._waiting = None
        now = trio.current_time()
        if failure is not None or self._blocks is None:
            return machine.apply(PromptNotSent(failure), now)
        if self._watch is None:
            self._watch = self.session.watch_files()
        return machine.apply(PromptSent(self._blocks), now)

    async def _go_on(self) -> Batch:
        """Return the agent's news, or wait for some."""
        machine, line = self._machine, self.line
        line.receive()
        watch = self._watch
        has_called = watch is not None and any(
            isinstance(one, ToolCall | ToolCallUpdate) for one in line.heard
        )
        if has_called:
            self._called_at = trio.current_time()
        await look_at_changes(line.heard, machine.renderer, self.session.read_file)
        if machine.state is TurnState.CLOSED:
            return ()
        batch = machine.hear(trio.current_time())
        if watch is not None and has_called:
            watch.note_calls(machine.renderer.changes.by_calls)
        for note in self.session.take_notes():
            log.warning("session=%s %s", line.session_id, note)
        if batch or machine.state is TurnState.LOGIN:
            return batch
        if line.lost is not None and not machine.is_answered:
            late = await self._look_around()
            last = (*late, *machine.renderer.tell_changes())
            if last:
                return last
            raise AgentError(line.lost)
        with trio.move_on_at(machine.deadline(trio.current_time())) as scope:
            await line.changed()
        if not scope.cancelled_caught:
            return ()
        late = await self._look_around() if machine.is_answered else ()
        return (*late, *machine.elapsed(trio.current_time()))

    async def _look_around(self) -> Batch:
        """Ask the editor for the changed files; return what the agent has said meanwhile.

        An agent that has called no tool has changed none.
        """
        if self._watch is None or self._called_at is None:
            return ()
        with trio.CancelScope(deadline=self._looks_until()) as self._waiting:
            await trio.sleep_until(self._called_at + SETTLE_SECONDS)
            seen = await self._watch.changed()
            self._machine.renderer.changes.notice(seen, is_alone=self._watch.is_alone)
        self._waiting = self._called_at = None
        return self._machine.hear(trio.current_time())

    def _looks_until(self) -> float:
        is_stopped = self._machine.state in (TurnState.STOPPING, TurnState.STOPPED)
        if not is_stopped and self.line.lost is None:
            return math.inf
        spared = trio.current_effective_deadline() - SPARE_SECONDS
        return min(trio.current_time() + STOPPED_SECONDS, spared)

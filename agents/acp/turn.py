"""One turn with an ACP agent, as a channel of batches.

The first receive sends the prompt, so a turn that is cancelled before that costs the agent nothing.
`TurnMachine` decides. `AcpTurn` waits: for the preparation of the prompt, for news, for the clock,
and for what is found out about the files that the agent has changed.
"""

from __future__ import annotations

import logging

import attrs
import trio

from agents.acp.render.turn_files import TurnFiles
from agents.acp.schema.content import ContentBlock
from agents.base import AgentError
from agents.breather import Breather
from agents.events import Answer, Batch
from bridge.errors import Failure
from bridge.work import Work

from .session_channel import SessionChannel
from .turn_machine import TurnMachine
from .turn_ports import WaitingSession
from .turn_states import Cancelling, Closing, PromptNotSent, PromptSent, TurnState

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class AcpTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn; `writing` makes the blocks of the prompt, and begins with the first receive."""

    line: SessionChannel
    session: WaitingSession
    writing: Work[tuple[ContentBlock, ...]]
    files: TurnFiles
    _machine: TurnMachine
    _blocks: tuple[ContentBlock, ...] | None = attrs.field(default=None, init=False)
    """The prompt, when it is written."""
    _preparing: trio.CancelScope | None = attrs.field(default=None, init=False)
    """A stop interrupts the preparation."""

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
        else:  # the agent may have died, and its files are asked for
            self.files.give_up()

    def close(self) -> None:
        """Close the turn; a task that receives from it gets `trio.ClosedResourceError`."""
        self._stop(Closing())

    def _stop(self, event: Cancelling | Closing) -> None:
        self._machine.apply(event, trio.current_time())
        if self._preparing is not None:
            self._preparing.cancel()
        self.files.interrupt()
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
        if state in (TurnState.OVER, TurnState.LOST, TurnState.CLOSED):
            self.files.end()

    async def _begin(self) -> Batch:
        """Prepare the prompt, and send it."""
        machine = self._machine
        if self.line.lost is not None:
            raise AgentError(self.line.lost)
        failure: Failure | None = None
        if machine.state is not TurnState.UNSENT:
            with trio.CancelScope() as self._preparing:
                if self._blocks is None:
                    self._blocks = await Breather().do(self.writing)
                login = machine.login
                failure = await (
                    self.session.prepare() if login is None else self.session.log_in(login)
                )
            self._preparing = None
        now = trio.current_time()
        if failure is not None or self._blocks is None:
            return machine.apply(PromptNotSent(failure), now)
        self.files.watch()
        return machine.apply(PromptSent(self._blocks), now)

    async def _go_on(self) -> Batch:
        """Return the agent's news, or wait for some."""
        machine, line = self._machine, self.line
        line.receive()
        await self.files.read(line.heard, machine.renderer)
        if machine.state is TurnState.CLOSED:
            return ()
        batch = machine.hear(trio.current_time())
        self.files.note(machine.renderer.changes)
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
        """Ask the editor for the changed files; return what the agent has said meanwhile."""
        machine = self._machine
        is_stopped = machine.state in (TurnState.STOPPING, TurnState.STOPPED)
        in_haste = is_stopped or self.line.lost is not None
        if not await self.files.ask(machine.renderer.changes, in_haste=in_haste):
            return ()
        return machine.hear(trio.current_time())

"""One turn with an ACP agent, as a channel of batches.

Whoever receives drives it: the prompt is sent with the first receive, so a turn that is cancelled
before that costs the agent nothing. What was heard comes out as one batch. Questions are gathered
for a moment, because agents ask several at once; then the turn awaits their answers. After the
prompt was answered the turn listens for a moment more, because agents say things late.
"""

from __future__ import annotations

import enum
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

import attrs
import trio

from agents.base import AgentError
from agents.breather import Breather
from agents.events import (
    Answer,
    Await,
    Batch,
    Break,
    Event,
    PermissionAnswer,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.habits import Habits
from bridge.errors import Failure
from bridge.wire import Permissions
from bridge.work import Work

from .changed_files import look_at_changes
from .chunks import ChunkJoiner
from .content import ContentBlock, ToolCall
from .dialogue import Asked, Dialogue, Returned
from .failures import is_auth_required, is_cancelled, is_lost_session, unknown_session
from .faults import Error
from .methods import PromptResponse
from .questions import Questions
from .render import Renderer
from .turn_tools import TurnTools

LATE_SECONDS = 0.06
"""How long an agent is listened to after it has answered its prompt."""
SILENT_SECONDS = 1.0
"""After how long a silence what is held back for company is shown alone."""

CANCELLED = Stop(StopReason.CANCELLED)

log = logging.getLogger("vscodelm.acp")


class _Phase(enum.Enum):
    NEW = enum.auto()
    """The prompt isn't sent."""
    OPEN = enum.auto()
    OVER = enum.auto()
    """The last event was received."""
    CLOSED = enum.auto()


@attrs.define(eq=False)
class AcpTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn; `prepare` does what must be done before the prompt is sent, `sent` is called then.

    `writing` comes to the blocks of the prompt. It begins with the first receive, too.
    """

    dialogue: Dialogue
    writing: Work[tuple[ContentBlock, ...]]
    renderer: Renderer
    permissions: Permissions
    agent: str
    new_call_id: Callable[[], str]
    prepare: Callable[[], Awaitable[Failure | None]]
    log_in: Callable[[Error], Awaitable[Failure | None]]
    failure_of: Callable[[Error], Failure]
    sent: Callable[[], None]
    take_notes: Callable[[], list[str]]
    read_file: Callable[[str], Awaitable[str | None]]
    habits: Habits
    _phase: _Phase = attrs.field(default=_Phase.NEW, init=False)
    _is_cancelled: bool = attrs.field(default=False, init=False)
    _blocks: tuple[ContentBlock, ...] | None = attrs.field(default=None, init=False)
    """The prompt, when it is written."""
    _preparing: trio.CancelScope | None = attrs.field(default=None, init=False)
    _chunks: ChunkJoiner = attrs.field(factory=ChunkJoiner, init=False)
    _questions: Questions = attrs.field(init=False)
    _tools: TurnTools = attrs.field(init=False)
    _awaits: bool = attrs.field(default=False, init=False)
    """Whether `Await` went out and an answer is still to come."""
    _is_quiet: bool = attrs.field(default=False, init=False)
    """Whether nothing is held back."""
    _returned: PromptResponse | Error | None = attrs.field(default=None, init=False)
    _ends_at: float = attrs.field(default=math.inf, init=False)
    _refused: Error | None = attrs.field(default=None, init=False)
    """The prompt was refused for want of a login."""
    _tried_login: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._questions = Questions(
            self.dialogue, self.permissions, self.agent, self.habits.questions
        )
        self._tools = TurnTools(self.dialogue)

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and the session there to say it."""
        return self._phase in (_Phase.NEW, _Phase.OPEN) and self.dialogue.lost is None

    @property
    def _is_open(self) -> bool:
        return self._phase is _Phase.OPEN

    def answer(self, answer: Answer) -> None:
        """Take the first answer to a question that is open."""
        match answer:
            case PermissionAnswer():
                self._questions.answer(answer)
            case ToolAnswer():
                self._tools.answer(answer)
            case _:
                assert_never(answer)

    def cancel(self) -> None:
        """Make the turn end as soon as the agent lets it."""
        if not self.runs:
            return
        self._is_cancelled = True
        self._questions.clear()
        self._tools.cancel()
        self.dialogue.cancel()
        if self._preparing is not None:
            self._preparing.cancel()
        self.dialogue.wake()

    def close(self) -> None:
        """Close the turn; who receives from it is told so."""
        if self._phase is not _Phase.OVER:
            self._tools.cancel()
        self._phase = _Phase.CLOSED
        if self._preparing is not None:
            self._preparing.cancel()
        self.dialogue.pause()
        self.dialogue.wake()

    async def aclose(self) -> None:
        """Close the turn; it never waits for anything."""
        self.close()
        await trio.lowlevel.checkpoint()

    async def receive(self) -> Batch:
        """Return the next events."""
        await trio.lowlevel.checkpoint()
        while True:
            match self._phase:
                case _Phase.CLOSED:
                    raise trio.ClosedResourceError
                case _Phase.OVER:
                    raise trio.EndOfChannel
                case _Phase.NEW:
                    batch = await self._begin()
                case _Phase.OPEN:
                    self.dialogue.is_received = True
                    await look_at_changes(self.dialogue.heard, self.renderer, self.read_file)
                    batch = (self._tell() or await self._wait()) if self._is_open else ()
                case _:
                    assert_never(self._phase)
            if batch:
                return batch

    # The beginning.

    async def _begin(self) -> Batch:
        """Send the prompt, after what must come before it."""
        if self.dialogue.lost is not None:
            raise AgentError(self.dialogue.lost)
        failure: Failure | None = None
        if not self._is_cancelled:
            with trio.CancelScope() as self._preparing:
                if self._blocks is None:
                    self._blocks = await Breather().do(self.writing)
                refused, self._refused = self._refused, None
                failure = await (self.prepare() if refused is None else self.log_in(refused))
            self._preparing = None
        if self._phase is _Phase.CLOSED:
            return ()
        if self._is_cancelled:
            return self._over(CANCELLED)
        if failure is not None:
            if self._tried_login:
                raise self._lost(failure)
            return self._over(Break(failure))
        assert self._blocks is not None, "the prompt is written before it is sent"
        self.dialogue.prompt(self._blocks)
        self._tools.begin()
        self.sent()
        self._phase = _Phase.OPEN
        return ()

    # What the agent says.

    def _tell(self) -> Batch:
        """Return what was heard, as events."""
        if self._awaits:
            if self._questions.are_open or self._tools.are_out:
                return ()
            self._awaits = False
            self.renderer.begin_response()
            self._tools.resume()
        events: list[Event] = []
        for one in self._questions.take_decided():
            events += self.renderer.decide(
                one.call_id, one.title, one.reason, is_allowed=one.is_allowed
            )
        for one in self.dialogue.take():
            self._is_quiet = False
            match one:
                case Asked():
                    events += self._ask(one)
                case Returned(answer=answer):
                    self._return(answer)
                case _:
                    if isinstance(one, ToolCall):
                        self.habits.suppose()
                    for update in self._chunks.pass_on(one):
                        events += self.renderer.update(update)
        self.renderer.files.clear()
        for note in self.take_notes():
            log.warning("session=%s %s", self.dialogue.session_id, note)
        self._tools.announce(self.renderer.under_way, self.renderer.take_announced())
        if trio.current_time() >= self._pauses_at:
            events += self._pause()  # an agent that goes on talking must not put it off
        return events

    def _ask(self, asked: Asked) -> Batch:
        record = self.renderer.ask(asked.request.tool_call)
        if not self.dialogue.is_open(asked.id):
            return ()  # it was taken back, or refused by a cancel
        if self._tools.allow(asked, record):
            return ()
        others = self.renderer.open_calls(record.call_id)
        return self._questions.put(asked, self.new_call_id(), record, others)

    @property
    def _pauses_at(self) -> float:
        """When the turn begins to await answers; infinite where there is nothing to await."""
        if self._awaits or self._returned is not None:
            return math.inf
        due = self._tools.due
        if not self._questions.are_open:
            return due
        gathered_at = self._questions.gathered_at
        return gathered_at if due == math.inf else max(gathered_at, due)

    def _pause(self) -> Batch:
        flushed, late, calls = (
            self.renderer.flush(),
            self._questions.take_late(),
            self._tools.emit(),
        )
        self._awaits = True
        self.dialogue.pause()
        return (*flushed, *late, *calls, Await())

    def _return(self, answer: PromptResponse | Error) -> None:
        if (
            isinstance(answer, Error)
            and is_auth_required(answer)
            and not (self._tried_login or self._is_cancelled)
        ):
            self._tried_login, self._refused = True, answer
            self._phase = _Phase.NEW
            return
        self._returned = answer
        self._ends_at = trio.current_time() + LATE_SECONDS

    async def _wait(self) -> Batch:
        """Wait for something to change; return what is to be said where nothing does."""
        if self._phase is _Phase.NEW:
            return ()
        if self.dialogue.lost is not None and self._returned is None:
            raise AgentError(self.dialogue.lost)
        if self._returned is not None:
            until = self._ends_at
        elif self._pauses_at < math.inf:
            until = self._pauses_at
        elif not (self._is_quiet or self._awaits):
            until = trio.current_time() + SILENT_SECONDS
        else:
            until = math.inf
        with trio.move_on_at(until) as scope:
            await self.dialogue.changed()
        if not scope.cancelled_caught:
            return ()
        if self._returned is not None:
            return self._end(self._returned)
        if self._pauses_at < math.inf:
            return ()  # the next look finds that it is time
        self._is_quiet = True
        return self.renderer.flush()

    # The end.

    def _end(self, answer: PromptResponse | Error) -> Batch:
        events: list[Event] = []
        for update in self._chunks.flush():
            events += self.renderer.update(update)
        usage = None if isinstance(answer, Error) else answer.usage
        last = CANCELLED if self._is_cancelled else self._ending(answer)
        events += self.renderer.finish(usage, is_complete=last == Stop())
        if self.dialogue.is_unproven and _refuses(answer):
            raise self._lost(unknown_session(self.agent))
        fault = answer if isinstance(answer, Error) else None
        if fault is not None and self._is_cancelled and is_cancelled(fault):
            fault = None
        if fault is not None and (is_lost_session(fault) or is_auth_required(fault)):
            raise self._lost(self.failure_of(fault))
        if self._is_cancelled:
            if fault is not None:
                self._give_up(fault)
            self.dialogue.drop_late()
        else:
            events += self._tools.end()
        return (*events, *self._over(last))

    def _give_up(self, fault: Error) -> None:
        """Lose a session whose stop failed: the agent may believe that the turn still runs."""
        failure = self.failure_of(fault)
        log.info("session=%s its stop failed: %s", self.dialogue.session_id, failure.message)
        self.dialogue.lose(failure)

    def _lost(self, failure: Failure) -> AgentError:
        """Lose the session: the agent doesn't know it, or only a new process sees a login."""
        self.dialogue.lose(failure)
        return AgentError(failure)

    def _ending(self, answer: PromptResponse | Error) -> Stop | Break:
        if isinstance(answer, Error):
            return Break(self.failure_of(answer))
        return Stop(_REASONS.get(answer.stop_reason, StopReason.END_TURN))

    def _over(self, last: Stop | Break) -> Batch:
        self._phase = _Phase.OVER
        self._blocks, self.prepare = (), _nothing_to_do  # they hold all that the agent was told
        self.writing.close()
        self.dialogue.pause()
        return (last,)


def _refuses(answer: PromptResponse | Error) -> bool:
    """Tell whether a prompt was refused; some agents do so where they don't know the session."""
    return isinstance(answer, PromptResponse) and answer.stop_reason == StopReason.REFUSAL.value


async def _nothing_to_do() -> Failure | None:
    """Prepare nothing: the turn is over."""
    return None


_REASONS: dict[str, Any] = {reason.value: reason for reason in StopReason}

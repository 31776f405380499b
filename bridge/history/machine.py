"""One conversation's history: its committed and provisional parts, and the effect of each event.

Rule 1: nothing in this file waits, and nothing outside changes a history.
Rule 2: everything an agent says carries its turn; what an older turn says has no effect.
Rule 3: `TRANSITIONS` is the machine. `apply` looks a cell up and runs its steps, the diagram in
docs/explanation/history.md is drawn from it, and a test walks every cell.

*Committed* is what the editor has acknowledged by building on it. *Provisional* is the exchange in
flight, or settled but not yet acknowledged. Together they are exactly what the editor was shown.
"""

from __future__ import annotations

from typing import assert_never

import attrs
from msgspec.structs import replace

from bridge.errors import Failure, LocalError
from bridge.value import Key, Value
from bridge.wire import RequestId

from .events import (
    Abort,
    Ask,
    Cancel,
    Close,
    Deliver,
    Effect,
    Emit,
    Fail,
    Finish,
    Forward,
    Input,
    Rejoin,
    Settle,
)
from .exchange import Ending, Exchange, Extends, Match, Supersedes, exchanges_of
from .message import Draft, Message
from .rules import BY_DIGESTS


class Phase(Key):
    """The phase of a history."""

    IDLE = "idle"
    STREAMING = "streaming"
    CLOSED = "closed"


class InputKind(Key):
    """An input as a history sees it."""

    EXTENDS = "extends"
    SUPERSEDES = "supersedes"
    REJOIN = "rejoin"
    CANCEL = "cancel"
    EMIT = "emit"
    FINISH = "finish"
    FAIL = "fail"
    CLOSE = "close"
    STALE = "stale"
    """Of an older turn, or about another request."""


class Step(Key):
    """One thing that a transition does; each is a method of `History`."""

    ABORT = "abort"
    CANCELLED = "end cancelled"
    COMPLETED = "end complete"
    FAILED = "end failed"
    COMMIT = "commit"
    WITHDRAW = "withdraw"
    DELIVER = "deliver"
    FORWARD = "forward"
    HAND_OVER = "hand over"
    REPEAT = "repeat"
    RESOLVE = "resolve"
    REFUSE = "refuse"


class Cell(Value):
    """The steps, in order, and the next phase."""

    steps: tuple[Step, ...]
    then: Phase


def _cell(then: Phase, *steps: Step) -> Cell:
    return Cell(steps, then)


_IDLE, _STREAMING, _CLOSED = Phase.IDLE, Phase.STREAMING, Phase.CLOSED

TRANSITIONS: dict[Phase, dict[InputKind, Cell]] = {
    Phase.IDLE: {
        InputKind.EXTENDS: _cell(_STREAMING, Step.COMMIT, Step.DELIVER),
        InputKind.SUPERSEDES: _cell(_STREAMING, Step.WITHDRAW, Step.DELIVER),
        InputKind.REJOIN: _cell(_IDLE, Step.REPEAT, Step.RESOLVE),
        InputKind.CANCEL: _cell(_IDLE),
        InputKind.EMIT: _cell(_IDLE),
        InputKind.FINISH: _cell(_IDLE),
        InputKind.FAIL: _cell(_IDLE),
        InputKind.CLOSE: _cell(_CLOSED),
        InputKind.STALE: _cell(_IDLE),
    },
    Phase.STREAMING: {
        InputKind.EXTENDS: _cell(_STREAMING, Step.ABORT, Step.CANCELLED, Step.COMMIT, Step.DELIVER),
        InputKind.SUPERSEDES: _cell(
            _STREAMING, Step.ABORT, Step.CANCELLED, Step.WITHDRAW, Step.DELIVER
        ),
        InputKind.REJOIN: _cell(_STREAMING, Step.HAND_OVER, Step.REPEAT),
        InputKind.CANCEL: _cell(_IDLE, Step.ABORT, Step.CANCELLED),
        InputKind.EMIT: _cell(_STREAMING, Step.FORWARD),
        InputKind.FINISH: _cell(_IDLE, Step.COMPLETED),
        InputKind.FAIL: _cell(_IDLE, Step.FAILED),
        InputKind.CLOSE: _cell(_CLOSED, Step.ABORT, Step.CANCELLED),
        InputKind.STALE: _cell(_STREAMING),
    },
    Phase.CLOSED: {
        InputKind.EXTENDS: _cell(_CLOSED, Step.REFUSE),
        InputKind.SUPERSEDES: _cell(_CLOSED, Step.REFUSE),
        InputKind.REJOIN: _cell(_CLOSED, Step.REFUSE),
        InputKind.CANCEL: _cell(_CLOSED),
        InputKind.EMIT: _cell(_CLOSED),
        InputKind.FINISH: _cell(_CLOSED),
        InputKind.FAIL: _cell(_CLOSED),
        InputKind.CLOSE: _cell(_CLOSED),
        InputKind.STALE: _cell(_CLOSED),
    },
}


@attrs.define(repr=False)
class History:
    """The record of one conversation. Read anything; change it by `apply` alone."""

    phase: Phase = attrs.field(default=Phase.IDLE, init=False)
    turn: int = attrs.field(default=0, init=False)
    request: RequestId | None = attrs.field(default=None, init=False)
    """The open request, while streaming."""
    committed: list[Exchange] = attrs.field(factory=list[Exchange], init=False)
    committed_path: list[Message] = attrs.field(factory=list[Message], init=False)
    """The committed part in the editor's words, which may differ by a rule (`rules`)."""
    retold: list[Exchange] = attrs.field(factory=list[Exchange], init=False)
    """The committed part as later requests will repeat it. If the editor has replaced its beginning
    by other words, such as a summary, these words stand here. The rest stands as it was said."""
    provisional: Exchange | None = attrs.field(default=None, init=False)
    """The newest exchange; its answer is filled in when it settles."""
    _draft: Draft = attrs.field(factory=lambda: Draft("assistant"), init=False)
    """The answer, as far as it has come."""

    def apply(self, event: Input) -> list[Effect]:
        """Take in one event and return the effects to perform.

        Raises `LocalError`, and changes nothing, on a request to a closed history.
        """
        cell = TRANSITIONS[self.phase][self._kind(event)]
        effects = [effect for step in cell.steps for effect in self._run(step, event)]
        self.phase = cell.then
        return effects

    @property
    def is_acknowledged(self) -> bool:
        """Return whether the editor has built on an answer."""
        return any(message.role == "assistant" for message in self.committed_path)

    @property
    def shown(self) -> list[Message]:
        """Return committed and provisional together: what the editor was shown."""
        if self.provisional is None:
            return list(self.committed_path)
        answer = self.answer
        return [*self.committed_path, *self.provisional.asked, *([answer] if answer else [])]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the exchanges: the committed ones, then the newest."""
        newest = () if self.provisional is None else (self.provisional,)
        return (*self.committed, *newest)

    @property
    def answer(self) -> Message | None:
        """Return the provisional answer, as far as it has come; None if it shows nothing."""
        if self.provisional is None or self.provisional.ending is not Ending.OPEN:
            return self.provisional and self.provisional.answer
        message = self._draft.message()
        return None if message.is_empty else message

    @property
    def answers(self) -> tuple[Message, ...]:
        """Return the committed answers, in the words in which they were given."""
        return tuple(one.answer for one in self.committed if one.answer is not None)

    @property
    def record(self) -> list[Exchange]:
        """Return every exchange as later requests will tell it, the newest as it settled."""
        return [*self.retold, *([self.provisional] if self.provisional is not None else [])]

    def _kind(self, event: Input) -> InputKind:
        match event:
            case Ask(match=Extends()):
                return InputKind.EXTENDS
            case Ask():
                return InputKind.SUPERSEDES
            case Rejoin():
                return InputKind.REJOIN
            case Cancel():
                return InputKind.CANCEL if event.request == self.request else InputKind.STALE
            case Emit():
                return InputKind.EMIT if event.turn == self.turn else InputKind.STALE
            case Finish():
                return InputKind.FINISH if event.turn == self.turn else InputKind.STALE
            case Fail():
                return InputKind.FAIL if event.turn == self.turn else InputKind.STALE
            case Close():
                return InputKind.CLOSE
            case _:
                assert_never(event)

    def _run(self, step: Step, event: Input) -> list[Effect]:
        match step, event:
            case Step.ABORT, _:
                return [Abort(self.turn)]
            case Step.CANCELLED, _:
                return self._settle(Ending.CANCELLED)
            case Step.COMPLETED, Finish(failure=told):
                return self._settle(Ending.COMPLETE, told=told)
            case Step.FAILED, Fail(failure=failure):
                return self._settle(Ending.FAILED, failure)
            case Step.FORWARD, Emit(parts=parts):
                self._draft.add(parts)
                return [Forward(self._open_request, parts)]
            case Step.HAND_OVER, Rejoin(request=request):
                older, self.request = self._open_request, request
                return [Settle(older)]
            case Step.REPEAT, Rejoin(request=request, parts=parts):
                return [Forward(request, parts)] if parts else []
            case Step.RESOLVE, Rejoin(request=request):
                return [Settle(request)]
            case Step.COMMIT, Ask() as ask:
                self._commit(ask)
                return []
            case Step.WITHDRAW, Ask() as ask:
                self._withdraw(ask)
                return []
            case Step.DELIVER, Ask() as ask:
                return [self._deliver(ask)]
            case Step.REFUSE, Ask(request=request) | Rejoin(request=request):
                raise LocalError(f"request {request!r} was asked of a closed history")
            case _:
                raise AssertionError(f"step {step} can't follow {event}")

    @property
    def _open_request(self) -> RequestId:
        assert self.request is not None, "streaming without a request"
        return self.request

    def _settle(
        self, ending: Ending, failure: Failure | None = None, told: Failure | None = None
    ) -> list[Effect]:
        assert self.provisional is not None, "settling without an exchange"
        answer = self.answer
        if answer is None and ending is Ending.COMPLETE:
            ending = Ending.EMPTY
        self.provisional = replace(self.provisional, answer=answer, ending=ending)
        settled = Settle(self._open_request, failure, told)
        self.request = None
        self._draft = Draft("assistant")
        return [settled]

    def _commit(self, ask: Ask) -> None:
        before = ask.incoming[: ask.match.new_from]
        if self.provisional is not None:
            new = [self.provisional]
        else:
            new = [*ask.inherited] or exchanges_of(before)
        self.committed.extend(new)
        self.retold.extend(new)
        self.committed_path[:] = before
        self._retell(ask.match)

    def _withdraw(self, ask: Ask) -> None:
        self.provisional = None
        self.committed_path[:] = ask.incoming[: ask.match.new_from]
        if isinstance(ask.match, Supersedes) and ask.match.exchange is not None:
            del self.committed[ask.match.exchange :]
            self.retold[:] = self.committed
        self._retell(ask.match)

    def _retell(self, match: Match) -> None:
        if match.rules - BY_DIGESTS:
            self.retold[:] = exchanges_of(self.committed_path)

    def _deliver(self, ask: Ask) -> Deliver:
        self.turn += 1
        self.request = ask.request
        self.provisional = Exchange(ask.incoming[ask.match.new_from :])
        return Deliver(self.turn, ask.match.new_from, withdrawn=isinstance(ask.match, Supersedes))

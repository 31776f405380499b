"""One conversation's history: committed, provisional, and what each event means.

Rule 1: nothing in this file waits, and nothing outside changes a history.
Rule 2: everything an agent says carries its turn; what an older turn says has no effect.
Rule 3: `TRANSITIONS` is the machine. `apply` looks a cell up and runs its steps, the diagram in
docs/explanation/history.md is drawn from it, and a test walks every cell.

*Committed* is what the editor has acknowledged by building on it. *Provisional* is the exchange in
flight, or settled but not yet acknowledged. Together they are exactly what the editor was shown.
"""

from __future__ import annotations

import enum
from typing import assert_never

import attrs
from msgspec.structs import replace

from .errors import Failure, LocalError
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
    Settle,
)
from .exchange import Ending, Exchange, exchanges_of
from .match import Extends, Match, Supersedes
from .message import Draft, Message
from .rules import BY_DIGESTS
from .value import Value
from .wire import RequestId


class Phase(enum.Enum):
    """What a history is doing."""

    IDLE = "idle"
    STREAMING = "streaming"
    CLOSED = "closed"


class Kind(enum.Enum):
    """An input as a history sees it."""

    EXTENDS = "extends"
    SUPERSEDES = "supersedes"
    CANCEL = "cancel"
    EMIT = "emit"
    FINISH = "finish"
    FAIL = "fail"
    CLOSE = "close"
    STALE = "stale"
    """Of an older turn, or about another request."""


class Step(enum.Enum):
    """One thing that a transition does; each is a method of `History`."""

    ABORT = "abort"
    CANCELLED = "end cancelled"
    COMPLETED = "end complete"
    FAILED = "end failed"
    COMMIT = "commit"
    WITHDRAW = "withdraw"
    DELIVER = "deliver"
    FORWARD = "forward"
    REFUSE = "refuse"


class Cell(Value):
    """What happens, in order, and where it leads."""

    steps: tuple[Step, ...]
    then: Phase


def _cell(then: Phase, *steps: Step) -> Cell:
    return Cell(steps, then)


_IDLE, _STREAMING, _CLOSED = Phase.IDLE, Phase.STREAMING, Phase.CLOSED

TRANSITIONS: dict[Phase, dict[Kind, Cell]] = {
    Phase.IDLE: {
        Kind.EXTENDS: _cell(_STREAMING, Step.COMMIT, Step.DELIVER),
        Kind.SUPERSEDES: _cell(_STREAMING, Step.WITHDRAW, Step.DELIVER),
        Kind.CANCEL: _cell(_IDLE),
        Kind.EMIT: _cell(_IDLE),
        Kind.FINISH: _cell(_IDLE),
        Kind.FAIL: _cell(_IDLE),
        Kind.CLOSE: _cell(_CLOSED),
        Kind.STALE: _cell(_IDLE),
    },
    Phase.STREAMING: {
        Kind.EXTENDS: _cell(_STREAMING, Step.ABORT, Step.CANCELLED, Step.COMMIT, Step.DELIVER),
        Kind.SUPERSEDES: _cell(_STREAMING, Step.ABORT, Step.CANCELLED, Step.WITHDRAW, Step.DELIVER),
        Kind.CANCEL: _cell(_IDLE, Step.ABORT, Step.CANCELLED),
        Kind.EMIT: _cell(_STREAMING, Step.FORWARD),
        Kind.FINISH: _cell(_IDLE, Step.COMPLETED),
        Kind.FAIL: _cell(_IDLE, Step.FAILED),
        Kind.CLOSE: _cell(_CLOSED, Step.ABORT, Step.CANCELLED),
        Kind.STALE: _cell(_STREAMING),
    },
    Phase.CLOSED: {
        Kind.EXTENDS: _cell(_CLOSED, Step.REFUSE),
        Kind.SUPERSEDES: _cell(_CLOSED, Step.REFUSE),
        Kind.CANCEL: _cell(_CLOSED),
        Kind.EMIT: _cell(_CLOSED),
        Kind.FINISH: _cell(_CLOSED),
        Kind.FAIL: _cell(_CLOSED),
        Kind.CLOSE: _cell(_CLOSED),
        Kind.STALE: _cell(_CLOSED),
    },
}


@attrs.define
class History:
    """The record of one conversation. Read anything; change it by `apply` alone."""

    phase: Phase = attrs.field(default=Phase.IDLE, init=False)
    turn: int = attrs.field(default=0, init=False)
    request: RequestId | None = attrs.field(default=None, init=False)
    """The open request, while streaming."""
    committed: list[Exchange] = attrs.field(factory=list[Exchange], init=False)
    committed_path: list[Message] = attrs.field(factory=list[Message], init=False)
    """The committed part in the editor's words, which may differ by a rule (`bridge.rules`)."""
    retold: list[Exchange] = attrs.field(factory=list[Exchange], init=False)
    """The committed part as later requests will tell it: as it was said, but from the beginning to
    where the editor last told it in quite other words, such as a summary's, in those."""
    provisional: Exchange | None = attrs.field(default=None, init=False)
    """The newest exchange; its answer is filled in when it settles."""
    _draft: Draft = attrs.field(factory=lambda: Draft("assistant"), init=False)
    """The answer, as far as it has come."""

    def apply(self, event: Input) -> list[Effect]:
        """Take one event in and return what is to be done.

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
        """Return what was said, exchange by exchange: the committed ones, then the newest."""
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

    def _kind(self, event: Input) -> Kind:
        match event:
            case Ask(match=Extends()):
                return Kind.EXTENDS
            case Ask():
                return Kind.SUPERSEDES
            case Cancel():
                return Kind.CANCEL if event.request == self.request else Kind.STALE
            case Emit():
                return Kind.EMIT if event.turn == self.turn else Kind.STALE
            case Finish():
                return Kind.FINISH if event.turn == self.turn else Kind.STALE
            case Fail():
                return Kind.FAIL if event.turn == self.turn else Kind.STALE
            case Close():
                return Kind.CLOSE
            case _:
                assert_never(event)

    def _run(self, step: Step, event: Input) -> list[Effect]:
        match step, event:
            case Step.ABORT, _:
                return [Abort(self.turn)]
            case Step.CANCELLED, _:
                return self._settle(Ending.CANCELLED)
            case Step.COMPLETED, _:
                return self._settle(Ending.COMPLETE)
            case Step.FAILED, Fail(failure=failure):
                return self._settle(Ending.FAILED, failure)
            case Step.FORWARD, Emit(parts=parts):
                self._draft.add(parts)
                return [Forward(self._open_request, parts)]
            case Step.COMMIT, Ask() as ask:
                self._commit(ask)
                return []
            case Step.WITHDRAW, Ask() as ask:
                self._withdraw(ask)
                return []
            case Step.DELIVER, Ask() as ask:
                return [self._deliver(ask)]
            case Step.REFUSE, Ask(request=request):
                raise LocalError(f"request {request!r} was asked of a closed history")
            case _:
                raise AssertionError(f"step {step} can't follow {event}")

    @property
    def _open_request(self) -> RequestId:
        assert self.request is not None, "streaming without a request"
        return self.request

    def _settle(self, ending: Ending, failure: Failure | None = None) -> list[Effect]:
        assert self.provisional is not None, "settling without an exchange"
        answer = self.answer
        if answer is None and ending is Ending.COMPLETE:
            ending = Ending.EMPTY
        self.provisional = replace(self.provisional, answer=answer, ending=ending)
        settled = Settle(self._open_request, failure)
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

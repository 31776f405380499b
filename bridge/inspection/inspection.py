"""Keeps the newest decisions as rows for a picture: `lm/inspect`, and `vscodelm replay --html`.

The rows come from the steps of a `Tracker`. When a request is over, its messages are dropped, and
the row keeps the beginnings of their texts. Secrets are removed and texts are shortened only when
the rows are read (`result`): that takes milliseconds, and no answer should wait for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import TypeAlias, assert_never

import attrs
import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from bridge.history.exchange import Ending
from bridge.history.message import Message
from bridge.history.progress_rounds import is_progress_call
from bridge.redact import Hide, redact_text
from bridge.routing.outcome import Opens, Reason
from bridge.value import Value
from bridge.wire import (
    DataPart,
    InspectedEnd,
    InspectedEvent,
    InspectedFact,
    InspectedRefusal,
    InspectedRequest,
    InspectedSession,
    InspectedTokens,
    InspectResult,
    Part,
    RequestId,
)

from .facts import ENDS, facts, message_lines, shown
from .steps import (
    InspectionStep,
    Over,
    RequestDecision,
    RequestEnded,
    RequestRefused,
    SessionBegan,
)
from .telling import SessionSource
from .tracker import OpenAnswers

MOST_EVENTS = 500
"""Events that the server keeps."""
MOST_LOOKED_AT = 1_024
"""Characters of a text in which secrets are looked for; nothing behind them is shown."""
MOST_SHOWN = 160
"""Characters of a text that are shown."""
MOST_LINE = 400
"""Characters of a line that may name several things."""
MOST_NAMED = 50
"""Tool calls, results or requests that are named in one row."""
REPEATED = "repeated"
"""The ending of a request whose host repeats it: the repeat gets the answer."""

OPEN = Ending.OPEN.value


class _Counts(Value):
    prompt_tokens: int
    completion_tokens: int


class _Usage(_Counts):
    """The record that the editor shows (`agents.token_record`)."""

    context_window: int | UnsetType = UNSET
    turn: _Counts | None = None


_decode_usage = msgspec.json.Decoder(_Usage).decode


@attrs.define(eq=False, repr=False)
class _Row:
    """One request, with the rounds of the progress tool that go on with its answer."""

    decision: RequestDecision
    at: float | UnsetType
    is_exact: bool
    request: RequestId
    """The newest request: the row's own, or its newest round."""
    began: SessionBegan | None = None
    ended: RequestEnded | None = None
    ended_at: float | UnsetType = UNSET
    usage: bytes = b""
    """The newest record of tokens."""
    rounds: int = 0
    kept: InspectedRequest | None = None
    """The row in full, after its request was over and its messages were dropped."""
    seen: InspectedRequest | None = None
    """The same as a person has seen it."""

    def event(self, show: Hide, answer: Message | None = None) -> InspectedRequest:
        """Return the row as it is now; `answer` has come so far if the request is open."""
        if self.seen is not None:
            return self.seen
        row = self._raw(answer)
        found = replace(
            row,
            model=show(row.model),
            asked=show(row.asked),
            answer=show(row.answer),
            given=[shown(show(line), MOST_LINE) for line in row.given],
            failure=UNSET if row.failure is UNSET else show(row.failure),
        )
        if row is self.kept:
            self.seen = found
        return found

    def _raw(self, answer: Message | None = None) -> InspectedRequest:
        """Return the row with the beginnings of its texts, secrets and all."""
        if self.kept is not None and self.ended is None:
            return self.kept
        head = self.kept or self._head()
        ended = self.ended
        answer = answer if ended is None else ended.answer
        failure = None if ended is None else ended.failure or ended.told
        return replace(
            head,
            rounds=self.rounds,
            ending=OPEN if ended is None else _ending(ended),
            ended_at=self.ended_at,
            # The beginning of the answer came with the first round.
            answer=head.answer or ("" if answer is None else _beginning(answer.text)),
            calls=head.calls + _calls(answer),
            failure=UNSET if failure is None else _beginning(failure),
            tokens=_tokens(self.usage),
        )

    def _head(self) -> InspectedRequest:
        """Return what is known when the request was decided about."""
        decision = self.decision
        outcome, told = decision.outcome, decision.telling
        is_repeat = outcome.reason is Reason.REPEAT
        delivered = () if is_repeat else decision.delivered
        origin = outcome.origin if isinstance(outcome, Opens) else None
        results = [one for message in delivered for one in message.results]
        words = facts(decision, self.began, is_exact=self.is_exact)
        return InspectedRequest(
            request=decision.request,
            conversation=decision.conversation,
            model=decision.model,
            request_class=decision.request_class.value,
            reason=outcome.reason.value,
            at=self.at,
            branch_of=UNSET if origin is None else origin,
            shared=outcome.shared if isinstance(outcome, Opens) else 0,
            extends=UNSET if decision.extends is None else decision.extends,
            taken_back=[] if is_repeat else [*decision.replaces[-MOST_NAMED:]],
            remembers=told.way is SessionSource.KEPT,
            session=UNSET if self.began is None else _session(self.began),
            facts=[InspectedFact(name, shown(text, MOST_LINE)) for name, text in words],
            asked=_beginning(_newest_words(delivered)),
            given=[*message_lines(delivered, _beginning)],
            results=_named(one for one in results if not is_progress_call(one)),
        )

    def begin(self, began: SessionBegan) -> None:
        """Take in how the session began."""
        self.began, self.seen = began, None
        if self.kept is not None:  # it was cancelled meanwhile
            self.kept = replace(self.kept, session=_session(began))

    def go_on(self, round_: RequestId) -> None:
        """Take in a round of the progress tool: its answer is more of this one."""
        self.request = round_
        self.rounds += 1
        self.ended_at, self.seen = UNSET, None
        if self.kept is not None:
            self.kept = replace(self.kept, ending=OPEN, ended_at=UNSET, rounds=self.rounds)

    def settle(self) -> None:
        """Let go of the messages if the request is over."""
        if self.ended is not None:
            self.kept = self._raw()
            self.decision = replace(self.decision, delivered=())
            self.ended = None


_Entry: TypeAlias = _Row | InspectedRefusal | InspectedEnd


@attrs.define(eq=False, repr=False)
class Inspection:
    """The newest events. `hide` takes secrets out of a text."""

    hide: Hide = redact_text
    most: int = MOST_EVENTS
    left_out: int = attrs.field(default=0, init=False)
    """Older events, which are forgotten."""
    _entries: deque[_Entry] = attrs.field(factory=deque["_Entry"], init=False)
    _rows: dict[RequestId, _Row] = attrs.field(factory=dict["RequestId", _Row], init=False)
    """The newest row of each request's id."""
    _newest: dict[int, _Row] = attrs.field(factory=dict[int, _Row], init=False)
    """The newest row of each conversation."""
    _over: list[_Row] = attrs.field(factory=list["_Row"], init=False)
    """Those whose requests are over since the last rest."""
    _start: float | None = attrs.field(default=None, init=False)

    def note(self, step: InspectionStep, now: float | None, *, is_exact: bool = True) -> None:
        """Take a step in. `now` is in seconds, or None if the times aren't known."""
        match step:
            case RequestDecision():
                self._decide(step, now, is_exact)
            case RequestEnded(request=request):
                row = self._rows.get(request)
                if row is not None:
                    row.ended, row.ended_at, row.seen = step, self._time(now), None
                    self._over.append(row)
            case SessionBegan(request=request):
                if request in self._rows:
                    self._rows[request].begin(step)
            case RequestRefused(request=request, reason=reason):
                self._add(InspectedRefusal(request, self._show(reason), self._time(now)))
            case Over(conversation=key, reason=reason):
                self._newest.pop(key, None)
                self._add(InspectedEnd(key, ENDS.get(reason, reason), self._time(now)))
            case _:
                assert_never(step)

    def said(self, request: RequestId | None, parts: Iterable[Part]) -> None:
        """Take in what an agent said: its records of tokens."""
        for part in parts:
            if isinstance(part, DataPart) and part.mime_type == "usage" and request in self._rows:
                self._rows[request].usage = part.data[:MOST_LOOKED_AT]

    @property
    def waiting(self) -> int:
        """The number of requests that are over, and whose messages are still kept."""
        return len(self._over)

    def rest(self) -> None:
        """Let go of the messages of the requests that are over."""
        over, self._over = self._over, []
        for row in over:
            row.settle()

    def result(self, answers: OpenAnswers) -> InspectResult:
        """Return the events; `answers` are those to open requests, as far as they have come."""
        events: list[InspectedEvent] = []
        for entry in self._entries:
            if isinstance(entry, _Row):
                answer = answers.get(entry.request)
                events.append(entry.event(self._show, answer))
            else:
                events.append(entry)
        return InspectResult(events, self.left_out)

    def _decide(self, decision: RequestDecision, now: float | None, is_exact: bool) -> None:
        newest = self._newest.get(decision.conversation)
        if decision.outcome.reason is Reason.PROGRESS and newest is not None:
            newest.go_on(decision.request)
            self._rows[decision.request] = newest
            return
        row = _Row(decision, self._time(now), is_exact, decision.request)
        self._rows[decision.request] = self._newest[decision.conversation] = row
        self._add(row)

    def _add(self, entry: _Entry) -> None:
        self._entries.append(entry)
        if len(self._entries) > self.most:
            oldest = self._entries.popleft()
            self.left_out += 1
            self._rows = {name: row for name, row in self._rows.items() if row is not oldest}
            self._newest = {key: row for key, row in self._newest.items() if row is not oldest}

    def _time(self, now: float | None) -> float | UnsetType:
        if now is None:
            return UNSET
        if self._start is None:
            self._start = now
        return round(now - self._start, 3)

    def _show(self, text: str) -> str:
        return shown(self.hide(_beginning(text)), MOST_SHOWN)


def _beginning(text: str) -> str:
    return text[:MOST_LOOKED_AT]


def _newest_words(messages: tuple[Message, ...]) -> str:
    """Return what the user said last."""
    said = (one.request or one.text for one in reversed(messages) if one.role == "user")
    return next((text for text in said if text), "")


def _session(began: SessionBegan) -> InspectedSession:
    process = UNSET if began.process is None else began.process
    return InspectedSession(began.start, began.why, began.told, process)


def _ending(ended: RequestEnded) -> str:
    return ended.ending.value if ended.repeat is None else REPEATED


def _calls(answer: Message | None) -> list[str]:
    calls = () if answer is None else answer.calls
    return _named(call.name for call in calls if not is_progress_call(call.call_id))


def _named(names: Iterable[str]) -> list[str]:
    return [shown(name, MOST_SHOWN) for name in islice(names, MOST_NAMED)]


def _tokens(usage: bytes) -> InspectedTokens | UnsetType:
    """Return what a record of tokens says of the turn, or else of the context."""
    try:
        record = _decode_usage(usage)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return UNSET
    counts = record.turn or record
    return InspectedTokens(counts.prompt_tokens, counts.completion_tokens, record.context_window)

"""Replays a recording through `bridge.chats`, and says what was decided and why.

No agent takes part: what was answered is what the recording says. Nothing here waits, so the same
code explains a trace to a person and tests the rules on recorded traffic.

A trace has a line for each event that the server decided about (`recording.Noted`). From these a
replay is exact. Other recordings say only what was on the wire, so `ASSUMED` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import attrs
import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from bridge.chats import Chats
from bridge.errors import Failure, RpcError
from bridge.history.events import Forward, Settle
from bridge.history.exchange import Ending, Exchange, Supersedes
from bridge.history.machine import History
from bridge.history.transcript import Transcript, TranscriptReader
from bridge.jsonrpc import decode_at
from bridge.models import AgentChoice
from bridge.routing.chat_events import (
    NOBODY,
    Broke,
    Cancelled,
    ChatEffect,
    ChatEvent,
    ChatRequest,
    Closed,
    Effects,
    Ended,
    Expired,
    Failed,
    Leaving,
    Opened,
    Refused,
    Routed,
    Said,
)
from bridge.routing.index import AgentKey, ConversationKey
from bridge.routing.relate import told_before
from bridge.routing.router import Joins, Opens, Outcome, Question, Reason, Tally
from bridge.value import Value
from bridge.wire import ChatParams, Part

from .recording import (
    Happening,
    Noted,
    Parted,
    Requested,
    RequestNumber,
    Settled,
    Stopped,
)
from .steps import (
    Line,
    Over,
    ReplayStep,
    RequestDecision,
    RequestEnded,
    RequestRefused,
    SessionBegan,
)
from .telling import BranchOrigin, MemoryKind, Telling, telling

_decode_params = msgspec.json.Decoder(ChatParams).decode
_decode_any = msgspec.json.Decoder().decode
_BRANCHES = frozenset({Reason.BRANCH, Reason.RETRY})
NAMED = "named"
"""The name of every stored session."""
NO_LIMIT = 1_000_000_000_000
APART = 1_000.0
"""Seconds that are assumed between two events."""
ASSUMED = (
    "This recording has no times of events and no configuration. So the replay assumes:",
    "no conversation expires, and no limit of sessions or of memory is reached",
    "no request is refused because it is repeated too often",
    "requests that name the same model, and no agent, belong to the same agent",
    "no marker of vscodelm is known",
)


@attrs.define
class _Known:
    """The knowledge of a replay about a conversation, live or not."""

    history: History
    committed: int = 0
    """Number of exchanges that were committed at the newest request."""
    requests: list[RequestNumber | None] = attrs.field(factory=list["RequestNumber | None"])
    """The request of each exchange, the provisional one last; None: with another agent."""
    origin: ConversationKey | None = None
    shared: int = 0
    is_rewound: bool = False
    """Whether its session remembers withdrawn messages."""


class _Read(Value):
    """A request as it was read from the wire."""

    params: ChatParams
    transcript: Transcript
    question: Question


@attrs.define
class Replay:
    """The state of a replay; `steps` runs it."""

    chats: Chats = attrs.field(factory=lambda: Chats(NO_LIMIT), init=False)
    is_exact: bool = attrs.field(default=False, init=False)
    """Whether the recording says all that decisions depend on."""
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader, init=False)
    _read: dict[RequestNumber, _Read] = attrs.field(
        factory=dict["RequestNumber", _Read], init=False
    )
    """The requests about which nothing is decided yet."""
    _known: dict[ConversationKey, _Known] = attrs.field(
        factory=dict["ConversationKey", _Known], init=False
    )
    _repeated: dict[RequestNumber, int] = attrs.field(
        factory=dict["RequestNumber", int], init=False
    )
    """Parts that the chats added themselves, and that the recording has, too."""
    _turns: dict[tuple[ConversationKey, int], RequestNumber] = attrs.field(
        factory=dict["tuple[ConversationKey, int]", "RequestNumber"], init=False
    )
    _now: float = attrs.field(default=0.0, init=False)

    @property
    def tally(self) -> Tally:
        """The counters of the chats."""
        return self.chats.tally

    def decisions(self, happenings: Iterable[Happening]) -> Iterator[RequestDecision]:
        """Yield a decision for every request that can be read."""
        return (step for step in self.steps(happenings) if isinstance(step, RequestDecision))

    def steps(self, happenings: Iterable[Happening]) -> Iterator[ReplayStep]:
        """Yield what became of every request, in the order in which it did."""
        for happening in happenings:
            match happening:
                case Requested(request=request, params=params):
                    yield from self._request(request, params)
                case Parted(request=request, part=part):
                    self._say(request, part)
                case Noted():
                    yield from self._note(happening)
                case Stopped() | Settled() if self.is_exact:
                    pass  # that is noted when it is decided about
                case Stopped(request=request):
                    self._now += APART
                    yield from self._take(Cancelled(request))
                case Settled(request=request, error=error):
                    yield from self._settle(request, error)
                case _:
                    assert_never(happening)

    def records(self) -> dict[ConversationKey, list[Exchange]]:
        """Return what is on record of each live conversation."""
        live = {key: one for key, one in self._known.items() if key in self.chats}
        return {key: one.history.record for key, one in live.items()}

    def lines(self) -> list[Line]:
        """Return every conversation, in the order in which they began."""
        return [
            Line(key, one.origin, one.shared, len(one.history.exchanges))
            for key, one in self._known.items()
        ]

    # Lines of the wire.

    def _request(self, request: RequestNumber, params: bytes) -> Iterator[ReplayStep]:
        try:
            asked = decode_at(_decode_params, params, "$")
            transcript = self._reader.read(asked.messages)
            read = _Read(asked, transcript, ask_whose(transcript, asked))
        except (RpcError, msgspec.DecodeError) as error:
            yield RequestRefused(request, str(error))
        except RecursionError:
            yield RequestRefused(request, "it is nested too deeply")
        else:
            self._read[request] = read
            if not self.is_exact:
                self._now += APART
                yield from self._decide(ChatRequest(request, read.question, 0, NO_LIMIT))

    def _say(self, request: RequestNumber, part: Part) -> None:
        if self._repeated.get(request, 0):
            self._repeated[request] -= 1
            return
        key = self.chats.conversation_of(request)
        if key is not None:
            turn = self._known[key].history.turn
            self.chats.apply(Said(key, turn, [part]), self._now)

    def _settle(self, request: RequestNumber, error: str | None) -> Iterator[ReplayStep]:
        key = self.chats.conversation_of(request)
        if key is not None:
            turn = self._known[key].history.turn
            failure = None if error is None else Failure("AgentFailed", error)
            self._now += APART
            yield from self._take(
                Ended(key, turn) if failure is None else Failed(key, turn, failure)
            )

    # Notes of the server.

    def _note(self, noted: Noted) -> Iterator[ReplayStep]:
        self._now = noted.at
        key, request = noted.conversation, noted.request
        match noted.event:
            case "configuration":
                self.is_exact = True
                self.chats.most_bytes = noted.most_bytes
            case "request" if request is not None:
                yield from self._request_noted(request, noted)
            case "cancelled" if request is not None:
                yield from self._take(Cancelled(request))
            case "ended":
                yield from self._take(
                    Ended(key, noted.turn, handle=NAMED if noted.remembered else None)
                )
            case "failed":
                failure = Failure(noted.failure_kind, noted.message)
                yield from self._take(Failed(key, noted.turn, failure))
            case "expired":
                yield from self._take(Expired(key))
            case "broke":
                failure = Failure("Internal", noted.message)
                yield from self._take(Broke(failure, key, request))
            case "leaving":
                yield from self._take(Leaving())
            case "began":
                if noted.start == "stored":
                    self.chats.tally.count_stored()
                named = self._turns.get((key, noted.turn))
                if named is not None:
                    yield SessionBegan(named, noted.start, noted.why, noted.told)
            case _:
                pass  # a later version may note more

    def _request_noted(self, request: RequestNumber, noted: Noted) -> Iterator[ReplayStep]:
        read = self._read.get(request)
        if read is None:
            yield RequestRefused(request, "the recording has no such request that can be read")
            return
        question = replace(read.question, agent=str(noted.agent).encode(), keep=noted.keep)
        yield from self._decide(
            ChatRequest(
                request,
                question,
                noted.bytes,
                noted.max_sessions,
                noted.marker,
                noted.among_strangers,
            )
        )

    # Consequences.

    def _take(self, event: ChatEvent) -> Iterator[ReplayStep]:
        effects = self.chats.apply(event, self._now)
        for key, effect in effects:
            if isinstance(effect, Settle) and key != NOBODY:
                history, failure = self._known[key].history, effect.failure
                ending = history.provisional.ending if history.provisional else Ending.OPEN
                ending = Ending.FAILED if ending is Ending.OPEN else ending
                reason = None if failure is None else failure.message
                yield RequestEnded(effect.request, ending, history.answer, reason)
        yield from self._over(effects)

    def _decide(self, asked: ChatRequest) -> Iterator[ReplayStep]:
        read = self._read.pop(asked.request)
        histories = [known.history for known in self._known.values()]
        answers = {one.request: one.answer for one in histories if one.request is not None}
        effects = self.chats.apply(asked, self._now)
        repeat = asked.request if any(map(_is_repeat, effects)) else None
        for _, effect in effects:
            if isinstance(effect, Settle) and effect.request in answers:
                answer = answers[effect.request]
                yield RequestEnded(effect.request, Ending.CANCELLED, answer, repeat=repeat)
        for key, effect in effects:
            match effect:
                case Opened():
                    self._known[key] = _Known(self.chats[key].history)
                case Routed():
                    self._turns[key, effect.turn] = asked.request
                    yield self._decision(key, effect.outcome, read, asked)
                case Forward(request=request, parts=parts) if self.is_exact or repeat is not None:
                    self._repeated[request] = self._repeated.get(request, 0) + len(parts)
                case Settle(request=request) if request == repeat:
                    answer = self._known[key].history.answer
                    yield RequestEnded(request, Ending.COMPLETE, answer)
                case Refused(failure=failure):
                    yield RequestRefused(asked.request, failure.message)
                case _:
                    pass
        yield from self._over(effects)

    def _over(self, effects: Effects) -> Iterator[Over]:
        for key, effect in effects:
            if isinstance(effect, Closed) and effect.reason != "answered":
                yield Over(key, effect.reason)

    def _decision(
        self, key: ConversationKey, outcome: Outcome, read: _Read, asked: ChatRequest
    ) -> RequestDecision:
        known, left = self._known[key], None
        replaced = self._replaced(known, outcome)
        if isinstance(outcome, Opens) and outcome.origin is not None:
            origin = self._known[outcome.origin]
            known.requests = origin.requests[: outcome.shared]
            if outcome.reason in _BRANCHES:
                left = BranchOrigin(origin.history, origin.is_rewound)
                known.origin, known.shared = outcome.origin, outcome.shared
        history = known.history
        known.requests += [None] * (len(history.committed) - len(known.requests))
        extends = known.requests[-1] if known.requests else None
        known.requests.append(asked.request)
        joined = isinstance(outcome, Joins) and len(history.committed) > known.committed
        known.committed = len(history.committed)
        committed = history.committed[-1].ending if joined else None
        new_from = outcome.match.new_from
        past = told_before(asked.question.path, new_from)
        told = telling(
            MemoryKind.of(_chosen(read.params), read.params.model_id),
            outcome,
            read.transcript.index(past),
            keeps=asked.question.keep,
            committed=committed,
            origin=left,
            is_led=past > new_from,
        )
        known.is_rewound = told.remembers(known.is_rewound)
        return _decision(
            asked.request, key, outcome, read.transcript, extends, replaced, committed, told
        )

    def _replaced(self, known: _Known, outcome: Outcome) -> tuple[RequestNumber, ...]:
        """Return what a request takes back, and take it out of the list of requests."""
        taken: list[RequestNumber | None] = []
        if isinstance(outcome, Joins) and isinstance(outcome.match, Supersedes):
            cut = outcome.match.exchange
            begins = len(known.requests) - 1 if cut is None else cut
            taken, known.requests[begins:] = known.requests[begins:], []
        elif isinstance(outcome, Opens) and outcome.reason in _BRANCHES:
            taken = self._known[outcome.origin or NOBODY].requests[outcome.shared :]
        return tuple(one for one in taken if one is not None)


def _is_repeat(effect: tuple[ConversationKey, ChatEffect]) -> bool:
    return isinstance(effect[1], Routed) and effect[1].outcome.reason is Reason.REPEAT


def ask_whose(transcript: Transcript, params: ChatParams) -> Question:
    """Return the question that a request puts to the router."""
    keep = params.settings is not UNSET and params.settings.rewind == "continue"
    return Question.of(_agent(params), transcript, params.options, keep=keep)


def _agent(params: ChatParams) -> AgentKey:
    """Return who is asked; only the model's name is known where the request doesn't say it."""
    chosen = _chosen(params)
    return params.model_id.encode() if chosen is None else chosen.key


def _chosen(params: ChatParams) -> AgentChoice | None:
    return None if params.agent is UNSET else AgentChoice.of(_decode_any(params.agent))


def _decision(
    request: RequestNumber,
    key: ConversationKey,
    outcome: Outcome,
    transcript: Transcript,
    extends: RequestNumber | None,
    replaced: tuple[RequestNumber, ...],
    committed: Ending | None,
    told: Telling,
) -> RequestDecision:
    fresh = isinstance(outcome, Opens) and outcome.reason in (
        Reason.NEW,
        Reason.UNPROVEN,
        Reason.ONE_SHOT,
        Reason.SUB_AGENT,
    )
    new_from = 0 if fresh else outcome.match.new_from
    return RequestDecision(
        request,
        key,
        outcome,
        outcome.request_class,
        None if fresh else extends,
        replaced,
        transcript.index(new_from),
        transcript.path[new_from:],
        told,
        committed,
    )

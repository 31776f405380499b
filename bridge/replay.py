"""Replays a recording through the router and the histories, and says what was decided and why.

No agent takes part: what was answered is what the recording says. Nothing here waits, so the same
code explains a trace to a person and tests the rules on recorded traffic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TypeAlias, assert_never

import attrs
import msgspec
from msgspec import UNSET

from .diff import told_before
from .errors import Failure, RpcError
from .events import Ask, Cancel, Close, Emit, Fail, Finish
from .exchange import Ending, Exchange
from .history import History
from .index import AgentKey, ConversationKey, Index
from .jsonrpc import decode_at
from .match import Supersedes
from .message import Message
from .models import AgentChoice
from .recording import Happening, Parted, Requested, RequestNumber, Settled, Stopped
from .request import RequestClass
from .router import Joins, Opens, Outcome, Question, Reason, Tally, route
from .telling import Kind, Origin, Telling, telling
from .transcript import Transcript, TranscriptReader
from .value import Value
from .wire import ChatParams

_params_decoder = msgspec.json.Decoder(ChatParams)
_decode_any = msgspec.json.Decoder().decode
_BRANCHES = frozenset({Reason.BRANCH, Reason.RETRY})


class Decision(Value):
    """What was decided about one request."""

    request: RequestNumber
    conversation: ConversationKey
    outcome: Outcome
    request_class: RequestClass
    extends: RequestNumber | None
    """The request whose answer this one builds on."""
    replaces: tuple[RequestNumber, ...]
    """The requests that it takes back."""
    new_from: int
    """Index in the request of the first message that the agent wasn't given before."""
    delivered: tuple[Message, ...]
    """What the agent is given now: what is new, and all of it where the conversation is."""
    telling: Telling
    """How the agent gets to know it."""
    committed: Ending | None = None
    """How the exchange ended that the request acknowledges by building on it."""


class Ended(Value):
    """How a request ended, and what had been answered by then."""

    request: RequestNumber
    ending: Ending
    answer: Message | None
    failure: str | None = None


class Refused(Value):
    """A request that can't be read, so that it never came to a decision."""

    request: RequestNumber
    reason: str


Step: TypeAlias = Decision | Ended | Refused


class Line(Value):
    """A line of a chat: a conversation, and the one whose beginning it shares."""

    conversation: ConversationKey
    origin: ConversationKey | None
    shared: int
    """How many exchanges it has in common with its origin."""
    exchanges: int
    """How many it has in all."""


@attrs.define
class _Conversation:
    history: History = attrs.field(factory=History)
    requests: list[RequestNumber | None] = attrs.field(factory=list["RequestNumber | None"])
    """The request of each exchange, the provisional one last; None: led elsewhere."""
    origin: ConversationKey | None = None
    shared: int = 0
    is_rewound: bool = False
    """Whether its session remembers what was withdrawn."""


@attrs.define
class Replay:
    """The state of a replay; `steps` runs it."""

    tally: Tally = attrs.field(factory=Tally, init=False)
    _index: Index = attrs.field(factory=Index, init=False)
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader, init=False)
    _live: dict[ConversationKey, _Conversation] = attrs.field(
        factory=dict["ConversationKey", _Conversation], init=False
    )
    _all: dict[ConversationKey, _Conversation] = attrs.field(
        factory=dict["ConversationKey", _Conversation], init=False
    )
    """The live ones, and those that are over."""
    _keys: count[int] = attrs.field(factory=lambda: count(1), init=False)
    _open: dict[RequestNumber, ConversationKey] = attrs.field(
        factory=dict["RequestNumber", "ConversationKey"], init=False
    )

    def decisions(self, happenings: Iterable[Happening]) -> Iterator[Decision]:
        """Yield a decision for every request that can be read."""
        return (step for step in self.steps(happenings) if isinstance(step, Decision))

    def steps(self, happenings: Iterable[Happening]) -> Iterator[Step]:
        """Yield what became of every request, in the order in which it did."""
        for happening in happenings:
            match happening:
                case Requested(request=request, params=params):
                    yield from self._request(request, params)
                case Parted(request=request, part=part):
                    conversation = self._conversation(request)
                    if conversation is not None:
                        turn = conversation.history.turn
                        conversation.history.apply(Emit(turn, [part]))
                case Stopped(request=request):
                    yield from self._settle(request, cancelled=True)
                case Settled(request=request, error=error):
                    yield from self._settle(request, error=error)
                case _:
                    assert_never(happening)

    def records(self) -> dict[ConversationKey, list[Exchange]]:
        """Return what is on record of each live conversation."""
        return {key: conversation.history.record for key, conversation in self._live.items()}

    def lines(self) -> list[Line]:
        """Return every conversation, in the order in which they began."""
        return [
            Line(key, one.origin, one.shared, len(one.history.exchanges))
            for key, one in self._all.items()
        ]

    def _conversation(self, request: RequestNumber) -> _Conversation | None:
        key = self._open.get(request)
        return None if key is None else self._live[key]

    def _settle(
        self, request: RequestNumber, *, cancelled: bool = False, error: str | None = None
    ) -> Iterator[Ended]:
        conversation = self._conversation(request)
        if conversation is None:
            return
        key = self._open.pop(request)
        history = conversation.history
        if cancelled:
            history.apply(Cancel(request))
        elif error is not None:
            history.apply(Fail(history.turn, Failure("AgentFailed", error)))
        else:
            history.apply(Finish(history.turn))
        assert history.provisional is not None, "settled without an exchange"
        yield Ended(request, history.provisional.ending, history.answer, error)
        self._index.update(key)
        if self._index[key].is_done:
            history.apply(Close())
            self._index.forget(key)
            del self._live[key]

    def _request(self, request: RequestNumber, params: bytes) -> Iterator[Step]:
        try:
            asked = decode_at(_params_decoder, params, "$")
            transcript = self._reader.read(asked.messages)
            question = ask_whose(transcript, asked)
        except (RpcError, msgspec.DecodeError) as error:
            yield Refused(request, str(error))
            return
        except RecursionError:
            yield Refused(request, "it is nested too deeply")
            return
        outcome = route(self._index, question)
        self.tally.count(outcome)
        inherited: tuple[Exchange, ...] = ()
        left: Origin | None = None
        match outcome:
            case Joins(conversation=key):
                conversation = self._live[key]
            case Opens():
                key = next(self._keys)
                conversation = self._live[key] = self._all[key] = _Conversation()
                origin = self._live.get(outcome.origin or 0)
                if origin is not None:
                    inherited = origin.history.exchanges[: outcome.shared]
                    conversation.requests = origin.requests[: outcome.shared]
                    if outcome.reason in _BRANCHES:
                        left = Origin(origin.history, origin.is_rewound)
                        conversation.origin = outcome.origin
                        conversation.shared = outcome.shared
            case _:
                assert_never(outcome)
        history = conversation.history
        if history.request is not None:
            yield Ended(history.request, Ending.CANCELLED, history.answer)
            del self._open[history.request]
        replaced = self._replaced(conversation, outcome)
        known = len(history.committed)
        history.apply(Ask(request, transcript.path, outcome.match, inherited))
        while len(conversation.requests) < len(history.committed):
            conversation.requests.append(None)
        extends = conversation.requests[-1] if conversation.requests else None
        conversation.requests.append(request)
        self._open[request] = key
        self._index.place(key, question.agent, history, outcome.request_class, question.hints)
        joined = isinstance(outcome, Joins) and len(history.committed) > known
        committed = history.committed[-1].ending if joined else None
        new_from = outcome.match.new_from
        past = new_from if left is None else told_before(transcript.path, new_from)
        told = telling(
            _kind(asked),
            outcome,
            transcript.index(past),
            keeps=question.keep,
            committed=committed,
            origin=left,
            is_led=past > new_from,
        )
        conversation.is_rewound = told.remembers(conversation.is_rewound)
        yield _decision(request, key, outcome, transcript, extends, replaced, committed, told)

    def _replaced(self, conversation: _Conversation, outcome: Outcome) -> tuple[RequestNumber, ...]:
        """Return what a request takes back, and take it out of the list of requests."""
        if isinstance(outcome, Joins) and isinstance(outcome.match, Supersedes):
            cut = outcome.match.exchange
            begins = len(conversation.requests) - 1 if cut is None else cut
            taken, conversation.requests[begins:] = conversation.requests[begins:], []
            return tuple(one for one in taken if one is not None)
        if isinstance(outcome, Opens) and outcome.reason in _BRANCHES:
            origin = self._live.get(outcome.origin or 0)
            left = origin.requests[outcome.shared :] if origin is not None else []
            return tuple(one for one in left if one is not None)
        return ()


def ask_whose(transcript: Transcript, params: ChatParams) -> Question:
    """Return the question that a request puts to the router."""
    keep = params.settings is not UNSET and params.settings.rewind == "continue"
    return Question.of(_agent(params), transcript, params.options, keep=keep)


def _agent(params: ChatParams) -> AgentKey:
    """Return who is asked; only the model's name is known where the request doesn't say it."""
    chosen = _chosen(params)
    return params.model_id.encode() if chosen is None else chosen.key


def _kind(params: ChatParams) -> Kind:
    return Kind.of(_chosen(params), params.model_id)


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
) -> Decision:
    fresh = isinstance(outcome, Opens) and outcome.reason in (
        Reason.NEW,
        Reason.UNPROVEN,
        Reason.ONE_SHOT,
        Reason.SUB_AGENT,
    )
    new_from = 0 if fresh else outcome.match.new_from
    return Decision(
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

"""Replay a recording through `bridge.chats`, and report what was decided and why.

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
from bridge.history.events import Forward
from bridge.history.transcript import Transcript, TranscriptReader
from bridge.inspection.steps import (
    InspectionStep,
    RequestDecision,
    RequestRefused,
)
from bridge.inspection.telling import MemoryKind
from bridge.inspection.tracker import AskedOf, Tracker, is_repeat
from bridge.jsonrpc import decode_at
from bridge.models import AgentChoice, Complete, as_given
from bridge.routing.chat_events import (
    Broke,
    Cancelled,
    ChatEvent,
    ChatRequest,
    Ended,
    Expired,
    Failed,
    Leaving,
    MemoryLimited,
    Said,
    SessionRecalled,
)
from bridge.routing.outcome import RoutedRequest, Tally
from bridge.value import Value
from bridge.wire import ChatParams, Part, RequestId

from .recording import (
    Happening,
    Noted,
    Parted,
    Requested,
    Settled,
    Stopped,
)

_decode_params = msgspec.json.Decoder(ChatParams).decode
_decode_any = msgspec.json.Decoder().decode
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


class _Read(Value):
    """A request as it was read from the wire."""

    routed: RoutedRequest
    asked_of: AskedOf


@attrs.define
class Replay:
    """The state of a replay; `steps` runs it."""

    complete: Complete = as_given
    chats: Chats = attrs.field(factory=lambda: Chats(NO_LIMIT), init=False)
    tracker: Tracker = attrs.field(init=False)
    is_exact: bool = attrs.field(default=False, init=False)
    """Whether the recording says all that decisions depend on."""
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader, init=False)
    _read: dict[RequestId, _Read] = attrs.field(factory=dict["RequestId", _Read], init=False)
    """The requests about which nothing is decided yet."""
    _repeated: dict[RequestId, int] = attrs.field(factory=dict["RequestId", int], init=False)
    """Parts that the chats added themselves, and that the recording has, too."""
    now: float = attrs.field(default=0.0, init=False)
    """Seconds, on the clock of the recording; assumed ones if it has no times."""

    def __attrs_post_init__(self) -> None:
        self.tracker = Tracker(self.chats)

    @property
    def tally(self) -> Tally:
        """The counters of the chats."""
        return self.chats.tally

    def decisions(self, happenings: Iterable[Happening]) -> Iterator[RequestDecision]:
        """Yield a decision for every request that can be read."""
        return (step for step in self.steps(happenings) if isinstance(step, RequestDecision))

    def steps(self, happenings: Iterable[Happening]) -> Iterator[InspectionStep]:
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
                    self.now += APART
                    yield from self._take(Cancelled(request))
                case Settled(request=request, error=error):
                    yield from self._settle(request, error)
                case _:
                    assert_never(happening)

    # Lines of the wire.

    def _request(self, request: RequestId, params: bytes) -> Iterator[InspectionStep]:
        try:
            asked = decode_at(_decode_params, params, "$")
            transcript = self._reader.read(asked.messages)
            routed = ask_whose(transcript, asked, self.complete)
            kind = MemoryKind.of(_chosen(asked, self.complete), asked.model_id)
        except (RpcError, msgspec.DecodeError) as error:
            yield RequestRefused(request, str(error))
        except RecursionError:
            yield RequestRefused(request, "it is nested too deeply")
        else:
            self._read[request] = _Read(routed, AskedOf(transcript, kind, asked.model_id))
            if not self.is_exact:
                self.now += APART
                yield from self._decide(ChatRequest(request, routed, 0, NO_LIMIT))

    def _say(self, request: RequestId, part: Part) -> None:
        if self._repeated.get(request, 0):
            self._repeated[request] -= 1
            return
        key = self.chats.conversation_of(request)
        if key is not None:
            turn = self.tracker.turn_of(key)
            self.chats.apply(Said(key, turn, [part]), self.now)

    def _settle(self, request: RequestId, error: str | None) -> Iterator[InspectionStep]:
        key = self.chats.conversation_of(request)
        if key is not None:
            turn = self.tracker.turn_of(key)
            failure = None if error is None else Failure("AgentFailed", error)
            self.now += APART
            yield from self._take(
                Ended(key, turn) if failure is None else Failed(key, turn, failure)
            )

    # Notes of the server.

    def _note(self, noted: Noted) -> Iterator[InspectionStep]:
        self.now = noted.at
        key, request = noted.conversation, noted.request
        match noted.event:
            case "configuration":
                self.is_exact = True
                self.chats.apply(MemoryLimited(noted.most_bytes), self.now)
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
                    self.chats.apply(SessionRecalled(), self.now)
                yield from self.tracker.began(
                    key, noted.turn, noted.start, noted.why, noted.told, noted.process
                )
            case _:
                pass  # a later version may note more

    def _request_noted(self, request: RequestId, noted: Noted) -> Iterator[InspectionStep]:
        read = self._read.get(request)
        if read is None:
            yield RequestRefused(request, "the recording has no such request that can be read")
            return
        routed = replace(read.routed, agent=str(noted.agent).encode(), keep=noted.keep)
        yield from self._decide(
            ChatRequest(
                request,
                routed,
                noted.bytes,
                noted.max_sessions,
                noted.marker,
                noted.among_strangers,
            )
        )

    # Consequences.

    def _take(self, event: ChatEvent) -> Iterator[InspectionStep]:
        yield from self.tracker.followed(self.chats.apply(event, self.now))

    def _decide(self, asked: ChatRequest) -> Iterator[InspectionStep]:
        said = self._read.pop(asked.request).asked_of
        answers = self.tracker.open_answers()
        effects = self.chats.apply(asked, self.now)
        for _, effect in effects:
            if isinstance(effect, Forward) and (self.is_exact or is_repeat(effects)):
                request = effect.request
                self._repeated[request] = self._repeated.get(request, 0) + len(effect.parts)
        yield from self.tracker.decided(asked, said, answers, effects)


def ask_whose(
    transcript: Transcript, params: ChatParams, complete: Complete = as_given
) -> RoutedRequest:
    """Return a request as it is routed."""
    keep = params.settings is not UNSET and params.settings.rewind == "continue"
    chosen = _chosen(params, complete)
    # Only the model's name is known where the request doesn't say who is asked.
    agent = params.model_id.encode() if chosen is None else chosen.key
    return RoutedRequest.of(agent, transcript, params.options, keep=keep)


def _chosen(params: ChatParams, complete: Complete) -> AgentChoice | None:
    if params.agent is UNSET:
        return None
    return AgentChoice.of(complete(_decode_any(params.agent), params.model_id))

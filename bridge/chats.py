"""Every conversation of one editor: an event comes in, effects come out.

Rule 1: nothing in this file waits, and only `Chats.apply` changes a conversation.
Rule 2: time, markers and sizes come in with the events. The same events have the same effects, so
a trace can be replayed (`vscodelm.replay`).
Rule 3: the caller carries out the effects in their order.

`Chats` finds the conversation of a request and limits repeats and room. `bridge.history.machine`
decides what an event means for one conversation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import assert_never

import attrs

from .errors import Failure
from .history.events import Abort, Ask, Cancel, Close, Effect, Emit, Fail, Finish, Rejoin, Settle
from .history.exchange import Ending, Exchange, Supersedes
from .history.machine import Phase
from .history.progress_rounds import is_progress_call
from .routing.chat_events import (
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
    LeftBehind,
    MemoryLimited,
    Opened,
    Refused,
    Remember,
    Routed,
    Said,
    SessionRecalled,
    TurnEnded,
)
from .routing.damper import Damper
from .routing.index import ConversationKey, Entry, Index
from .routing.live import LiveConversation
from .routing.outcome import Joins, Opens, Outcome, Reason, RoutedRequest, Tally
from .routing.repeats import LASTING, FailedRequests, has_no_twin, repeated_as
from .routing.request import RequestClass
from .routing.room import MOST_KEPT_BYTES, TOO_LARGE, TOO_MANY, Denials, Occupant, giving_way
from .routing.router import alone, route
from .wire import OwnTextPart, Part, RequestId

REPEATED = Failure(
    "Blocked", "The same request was repeated too often within a few seconds. Wait, then try again."
)


@attrs.define(eq=False, repr=False)
class Chats:
    """Every conversation of one editor. Read anything; change it by `apply` alone."""

    _most_bytes: int = MOST_KEPT_BYTES
    tally: Tally = attrs.field(factory=Tally, init=False)
    _index: Index = attrs.field(factory=Index, init=False)
    _damper: Damper = attrs.field(factory=Damper, init=False)
    _failed: FailedRequests = attrs.field(factory=FailedRequests, init=False)
    _denials: Denials = attrs.field(factory=Denials, init=False)
    _live: dict[ConversationKey, LiveConversation] = attrs.field(
        factory=dict["ConversationKey", LiveConversation], init=False
    )
    """The least recently asked first."""
    _open: dict[RequestId, ConversationKey] = attrs.field(
        factory=dict["RequestId", "ConversationKey"], init=False
    )
    _newest: ConversationKey | None = attrs.field(default=None, init=False)
    """The conversation of the newest request."""
    _keys: count[int] = attrs.field(factory=lambda: count(1), init=False)
    _is_leaving: bool = attrs.field(default=False, init=False)
    _effects: Effects = attrs.field(factory=list["tuple[ConversationKey, ChatEffect]"], init=False)
    """The effects of the event that is being taken in."""

    def apply(self, event: ChatEvent, now: float) -> Effects:
        """Take one event in and return what is to be done, in order; `now` is in seconds.

        If this raises, tell it with `Broke`: the effects until then come with those of that.
        """
        match event:
            case Said(conversation=key, turn=turn, parts=parts):
                self._say(key, turn, parts)
            case ChatRequest():
                self._take(event, now)
            case Cancelled(request=request):
                self._change(self._open.get(request, NOBODY), Cancel(request), now)
            case Ended(conversation=key, turn=turn, parts=parts, handle=handle):
                self._say(key, turn, parts)
                self._change(key, Finish(turn), now, handle)
            case Failed(conversation=key, turn=turn, failure=failure):
                self._fail(key, turn, failure, now)
            case Expired(conversation=key):
                if key in self._live and self._live[key].history.phase is Phase.IDLE:
                    self._end(key, "idle")
            case Broke(failure=failure, conversation=key, request=request):
                self._drop(key, request, failure, now)
            case Leaving():
                self._is_leaving = True
                for key in list(self._live):
                    self._end(key, "leaving")
            case SessionRecalled():
                self.tally.count_stored()
            case MemoryLimited(most_bytes=most_bytes):
                self._most_bytes = most_bytes
            case _:
                assert_never(event)
        effects, self._effects = self._effects, []
        return effects

    def prepare(self) -> None:
        """Do some of the next request's work now; its effects are the same without this."""
        self._index.refresh()

    def __len__(self) -> int:
        """Return how many conversations live."""
        return len(self._live)

    def __contains__(self, key: ConversationKey) -> bool:
        """Return whether a conversation lives."""
        return key in self._live

    def __getitem__(self, key: ConversationKey) -> Entry:
        """Return what is known of a live conversation."""
        return self._index[key]

    @property
    def most_bytes(self) -> int:
        """The bytes that all conversations together may take."""
        return self._most_bytes

    @property
    def kept_bytes(self) -> int:
        """Bytes that are kept of newest requests and of their answers."""
        return sum(live.size for live in self._live.values())

    def route(self, routed: RoutedRequest) -> Outcome:
        """Return where a request would belong."""
        return route(self._index, routed)

    def conversation_of(self, request: RequestId) -> ConversationKey | None:
        """Return the conversation of an open request."""
        return self._open.get(request)

    def request_of(self, key: ConversationKey, turn: int) -> RequestId | None:
        """Return the open request that a turn answers."""
        live = self._live.get(key)
        return live.history.request if live is not None and live.history.turn == turn else None

    # A request.

    def _take(self, asked: ChatRequest, now: float) -> None:
        if self._is_leaving:
            self._do(NOBODY, Settle(asked.request))
            return
        routed = asked.routed
        name = repeated_as(routed)
        known = self._failed.known(name, now)
        if known is not None:
            self._do(NOBODY, Refused(asked.request, known))
            return
        running = self._repeated(routed, name, now)
        if running is not None:
            self._rejoin(running, asked)
            return
        outcome = route(self._index, routed)
        if asked.among_strangers:
            # A client that sends the same text as another doesn't join its chat.
            outcome = alone(routed) if self._is_busy(outcome) else outcome
        elif not self._admits(routed, outcome, now):
            self._do(NOBODY, Refused(asked.request, REPEATED))
            return
        self.tally.count(outcome, routed.source)
        inherited, origin = (), None
        if isinstance(outcome, Joins):
            key = outcome.conversation
            live = self._live[key] = self._live.pop(key)
        else:
            inherited, origin = self._inherited(outcome), outcome.origin
            key, live = self._begin(asked, outcome)
        self._open[asked.request] = key
        live.begin(asked.size, name)
        self._do(key, Routed(asked.request, live.history.turn + 1, routed, outcome))
        ask = Ask(asked.request, routed.path, outcome.match, inherited)
        self._perform(key, live.history.apply(ask))
        if asked.marker is not None:
            self._index.remember_marker(asked.marker, key)
        request_class = outcome.request_class
        self._index.place(key, routed.agent, live.history, request_class, routed.hints, origin)
        self._newest = key
        if request_class is RequestClass.MAIN:
            for other in self._index.other_branches(key):
                self._do(other, LeftBehind())
            notices = [OwnTextPart(text) for text in self._denials.notices(routed.path)]
            self._say(key, live.history.turn, notices)
        self._make_memory(key, request_class)

    def _is_busy(self, outcome: Outcome) -> bool:
        """Return whether a request would take the place of another that is being answered."""
        if not isinstance(outcome, Joins):
            return False
        return self._live[outcome.conversation].history.phase is Phase.STREAMING

    def _repeated(
        self, routed: RoutedRequest, name: Hashable, now: float
    ) -> ConversationKey | None:
        """Return the conversation whose newest request the host repeats by itself.

        The turn of that request runs, or has just ended with a complete answer.
        """
        for live in self._live.values():
            live.tidy(now)
        if name is None or not has_no_twin(routed):
            return None
        found = (key for key, live in self._live.items() if live.repeated_as == name)
        return next((key for key in found if self._live[key].has_answer(now)), None)

    def _rejoin(self, key: ConversationKey, asked: ChatRequest) -> None:
        """Give a repeat the answer of its request, as far as it has come."""
        live = self._live[key] = self._live.pop(key)
        history = live.history
        match = Supersedes(len(history.committed_path))
        outcome = Joins(key, match, Reason.REPEAT, self._index[key].request_class)
        self.tally.count(outcome, asked.routed.source)
        self._open[asked.request] = key
        self._do(key, Routed(asked.request, history.turn, asked.routed, outcome))
        self._perform(key, history.apply(Rejoin(asked.request, live.sent.joined())))
        self._newest = key

    def _admits(self, routed: RoutedRequest, outcome: Outcome, now: float) -> bool:
        """Return whether a request is to be answered, or is one repeat too many."""
        ending = Ending.COMPLETE  # only a complete answer gets a branch of its own
        if isinstance(outcome, Joins) and outcome.reason is Reason.RETRY:
            provisional = self._live[outcome.conversation].history.provisional
            ending = provisional.ending if provisional is not None else ending
        return self._damper.admit(
            # digests: the request itself mustn't be kept after it is settled
            (routed.agent, routed.hints.names, tuple(m.digest for m in routed.path)),
            is_retry=outcome.reason is Reason.RETRY,
            answered=ending is Ending.COMPLETE,
            now=now,
        )

    def _inherited(self, outcome: Opens) -> tuple[Exchange, ...]:
        """Return what the conversation that a request branches off knows of its beginning."""
        if outcome.origin is None:
            return ()
        return self._live[outcome.origin].history.exchanges[: outcome.shared]

    def _begin(
        self, asked: ChatRequest, outcome: Opens
    ) -> tuple[ConversationKey, LiveConversation]:
        """Begin a conversation, and end others of its agent that are too many."""
        origin, request_class = outcome.origin, outcome.request_class
        if origin is not None and outcome.shared < len(self._live[origin].history.exchanges):
            origin = None  # its session knows more
        key, live = next(self._keys), LiveConversation(asked.routed.agent)
        self._do(key, Opened(request_class, origin))
        same = (other for other, one in self._live.items() if one.agent == asked.routed.agent)
        occupants = [self._occupant(other) for other in same]
        # A request beside a chat denies no question: the question may be the chat's own.
        is_beside = request_class is not RequestClass.MAIN
        excess = len(occupants) + 1 - asked.max_sessions
        leaving = giving_way(occupants, excess, spare_questions=is_beside)
        self._give_way(leaving, TOO_MANY.format(limit=asked.max_sessions))
        self._live[key] = live
        return key, live

    # A turn.

    def _say(self, key: ConversationKey, turn: int, parts: Sequence[Part]) -> None:
        live = self._live.get(key)
        effects = live.history.apply(Emit(turn, parts)) if live is not None and parts else []
        if live is not None and effects:
            live.note_sent(parts)
            self._perform(key, effects)

    def _fail(self, key: ConversationKey, turn: int, failure: Failure, now: float) -> None:
        """Fail a turn. If the host would repeat it to no avail, send the cause as its answer.

        Not for a one-shot: the host would replace the chat's history with the cause of a failed
        summary.
        """
        live = self._live.get(key)
        may_repeat = live is not None and live.repeated_as is not None
        is_chat = live is not None and not self._index[key].request_class.is_one_shot
        if may_repeat and is_chat and failure.kind in LASTING:
            self._say(key, turn, [OwnTextPart(failure.message)])
            self._change(key, Finish(turn, failure), now)
            return
        if live is not None and live.history.turn == turn:
            self._failed.note(live.repeated_as, failure, now)
        self._change(key, Fail(turn, failure), now)

    def _change(
        self,
        key: ConversationKey,
        event: Cancel | Finish | Fail,
        now: float,
        handle: str | None = None,
    ) -> None:
        """Take in what becomes of a turn."""
        live = self._live.get(key)
        effects = live.history.apply(event) if live is not None else []
        if live is None or not effects:
            return
        self._do(key, TurnEnded(live.history.turn, event))
        self._perform(key, effects)
        self._index.update(key)
        live.settled_at = now
        newest = live.history.provisional
        if handle is not None and newest is not None and newest.ending is Ending.COMPLETE:
            self._do(key, Remember(handle, live.history.record))
        if self._index[key].is_done:
            self._end(key, "answered")

    # Room.

    def _make_memory(self, newest: ConversationKey, request_class: RequestClass) -> None:
        """End conversations if all take too much memory together; the newest one stays.

        It counts for half of the memory at most: one chat alone must not end all others.
        """
        own = self._live[newest].size
        kept = self.kept_bytes - own
        excess = kept + min(own, self._most_bytes - self._most_bytes // 2) - self._most_bytes
        if excess > 0:
            others = [self._occupant(key) for key in self._live if key != newest]
            is_beside = request_class is not RequestClass.MAIN
            leaving = giving_way(others, excess, lambda one: one.size, spare_questions=is_beside)
            self._give_way(leaving, TOO_LARGE.format(limit=self._most_bytes // (1024 * 1024)))

    def _occupant(self, key: ConversationKey) -> Occupant:
        live = self._live[key]
        return Occupant(
            key,
            live.size,
            is_busy=live.history.phase is Phase.STREAMING,
            waits_since=live.settled_at if self._index[key].calls else None,
        )

    def _give_way(self, leaving: Iterable[Occupant], reason: str) -> None:
        for one in leaving:
            calls = self._index[one.key].calls
            self._denials.note((call for call in calls if not is_progress_call(call)), reason)
            self._end(one.key, "waited-longest" if calls else "least-recently-used")

    # The end.

    def _end(self, key: ConversationKey, reason: str) -> None:
        live = self._live.pop(key)
        self._perform(key, live.history.apply(Close()))
        self._index.forget(key)
        self._do(key, Closed(reason, is_newest=key == self._newest))

    def _drop(
        self, key: ConversationKey, request: RequestId | None, failure: Failure, now: float
    ) -> None:
        """End a conversation whose history can't be relied on any more."""
        if request is not None:
            key = self._open.get(request, NOBODY)
            if key == NOBODY:
                self._do(NOBODY, Settle(request, failure))
        live = self._live.pop(key, None)
        name = None if live is None else live.repeated_as
        for one in [one for one, owner in self._open.items() if owner == key]:
            del self._open[one]
            self._do(key, Settle(one, failure))
            self._failed.note(name, failure, now)
        if live is not None:
            self._index.forget(key)
            # Effects for it that weren't carried out are dropped.
            self._effects = [
                (one, effect)
                for one, effect in self._effects
                if one != key or isinstance(effect, Settle)
            ]
            self._do(key, Abort(live.history.turn), Closed("internal"))

    def _perform(self, key: ConversationKey, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Settle):
                del self._open[effect.request]
        self._do(key, *effects)

    def _do(self, key: ConversationKey, *effects: ChatEffect) -> None:
        self._effects += [(key, effect) for effect in effects]

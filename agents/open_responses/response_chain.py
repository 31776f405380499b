"""The content of a conversation with an endpoint, and how much of it the server has already.

A request continues the last response that the server keeps (`Point`), and sends only what came
after it. Without such a response it sends everything. A request can't continue a response that
failed, was cut short or was cancelled. The shown part of it is sent again, as text.

Points outlive their session: another session with the same beginning continues from there. So an
edit, and the way back, cost no more than any other request.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import attrs
from msgspec.structs import replace

from agents.events import (
    AskPermission,
    Batch,
    CallTool,
    Decision,
    PermissionAnswer,
    Say,
    ToolAnswer,
)
from agents.open_responses.request.content import ConversionError
from agents.open_responses.request.messages import (
    ConversionOptions,
    OpenCall,
    conversion,
    convert_messages,
    result_item,
)
from agents.open_responses.request.output import heard
from agents.open_responses.stream.call_ids import inward
from agents.open_responses.stream.outcome import ResponseOutcome
from bridge.value import Value
from bridge.wire import ChatMessage, ToolResultPart
from bridge.work import Work

from .checkpoints import Point, Points
from .history_digest import Track, boundaries, written_call, written_result
from .items import ApprovalItem, BesideItem, CompactionItem, Item, MessageItem, ReasoningItem

_PLAIN_KINDS = frozenset({"message", "function_call", "reasoning"})
_UNANSWERED = "The user went on without an answer."
_EMPTY_MESSAGE = "(The user sent an empty message.)"


@attrs.define
class Shown:
    """The part of a response that the editor has; `is_whole` if that is all."""

    own: list[str] = attrs.field(factory=list[str])
    """The model's own texts; ours are left out when a conversation is replayed."""
    texts: list[str] = attrs.field(factory=list[str])
    """All texts, with our own."""
    calls: list[CallTool] = attrs.field(factory=list[CallTool])
    asked: set[str] = attrs.field(factory=set[str])
    """The editor's ids of the questions."""
    is_empty: bool = True
    is_whole: bool = False

    def add(self, batch: Batch) -> None:
        """Note what went out."""
        self.is_empty = self.is_empty and not batch
        for event in batch:
            match event:
                case Say(text=text, by_us=by_us):
                    self.texts.append(text)
                    self.own += [] if by_us else [text]
                case CallTool():
                    self.calls.append(event)
                case AskPermission(call_id=call_id):
                    self.asked.add(call_id)
                case _:
                    pass


class NextRequest(Value):
    """The content of the next request, and the response that it continues."""

    items: tuple[Item, ...]
    previous_response_id: str | None


@attrs.define
class ResponseChain:
    """The chain of responses of one conversation."""

    points: Points
    instructions: str = ""
    lead: tuple[Item, ...] = ()
    """The system prompt, where it isn't told as instructions."""
    _options: ConversionOptions = attrs.field(factory=ConversionOptions)
    """The newest turn's."""
    _untold: list[ChatMessage] = attrs.field(factory=list["ChatMessage"])
    """Messages of the editor that aren't taken in yet."""
    _items: list[Item] = attrs.field(factory=list["Item"])
    _open: dict[str, OpenCall] = attrs.field(factory=dict[str, OpenCall])
    """Calls without a result, by the editor's ids."""
    _approvals: dict[str, str] = attrs.field(factory=dict[str, str])
    """The server's ids of its questions without an answer, by the editor's ids."""
    _track: Track = attrs.field(factory=Track)
    _shown: Track = attrs.field(factory=Track)
    """With our own words: the next process can't tell them from the model's."""
    _has_begun: bool = False
    has_thought: bool = False
    """Whether the server thought since the user spoke; it may have kept that, unseen."""
    _has_more: bool = False
    """Whether the server has something in its context that we can't see at all."""
    _point: Point | None = None
    _known: int = 0
    """Number of items that the server has at that point."""

    def tell(self, messages: Sequence[ChatMessage], options: ConversionOptions) -> None:
        """Note what the editor says next; `take_in` takes it. The `options` count from now on."""
        self._options = options
        self._untold += messages

    def take_in(self) -> Work[None]:
        """Take in messages, in steps; only the last step changes anything.

        Raises `ConversionError`; then none of them counts.
        """
        messages = [*self._untold]
        try:
            converted = yield from conversion(
                messages,
                self._options,
                open_calls=self._open,
                server_ids=self.points.server_ids,
                begins=not self._has_begun,
            )
        except ConversionError:
            self._untold.clear()
            raise
        if self._has_begun:
            track, shown = self._track.copy(), self._shown.copy()
            for message in messages:
                track.tell(message)
                shown.tell(message)
                yield
        else:
            track, ends = yield from boundaries(messages)
            shown = track.copy()
            self.instructions, self.lead = converted.instructions, _lead(converted.items)
            for digest, index in reversed(ends.items()):
                self._point = self.points.at(digest)
                if self._point is not None:
                    known = sum(one.source <= index for one in converted.placed)
                    self._known = known - len(self.lead)
                    break
        self._track, self._shown = track, shown
        items = converted.items if self._has_begun else converted.items[len(self.lead) :]
        self._untold.clear()
        self._has_begun = True
        self.has_thought = False
        self._open = {}
        self._items += [ApprovalItem(one, False, _UNANSWERED) for one in self._approvals.values()]
        self._approvals = {}
        self._items += items or [MessageItem("user", _EMPTY_MESSAGE)]

    def instruct(self, system: Sequence[ChatMessage] | None) -> None:
        """Take the system prompt as it is now, None: as it was; raises `ConversionError`.

        It isn't part of the conversation, so the server's response to it never counts.
        """
        if system is not None:
            converted = convert_messages(system, self._options)
            self.instructions, self.lead = converted.instructions, converted.items

    @property
    def is_whole(self) -> bool:
        """Whether the server's copy matches the editor's messages, thoughts aside."""
        return self._options.context == "full" and not self._has_more

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids, as the editor knows them, of the calls and questions that wait for an answer."""
        return (*self._open, *self._approvals)

    def answer(self, answers: Sequence[ToolAnswer | PermissionAnswer]) -> Work[None]:
        """Take the results of calls, in short steps. All of those that are open have one.

        Nothing changes before the last step.
        """
        items: list[Item] = []
        beside: list[Item] = []
        results: dict[str, bytes] = {}
        decided: list[str] = []
        for answer in answers:
            if isinstance(answer, PermissionAnswer):
                decided.append(answer.call_id)
                items.append(_approval(self._approvals[answer.call_id], answer))
                continue
            part = ToolResultPart(answer.call_id, answer.result, answer.is_error)
            results[answer.call_id] = written_result(part)
            call = self._open[answer.call_id]
            first, *others = result_item(call.server_id, part, self._options)
            items.append(first)
            beside += others
            yield
        for call_id, result in results.items():
            self._track.answer(call_id, result)
            self._shown.answer(call_id, result)
            del self._open[call_id]
        for call_id in decided:
            del self._approvals[call_id]
        self._items += (*items, *beside)

    def ask(self, setup: bytes, *, stateful: bool) -> NextRequest:
        """Return the next request. It continues only from a point with the same `setup`."""
        goes_on = (
            stateful
            and self._point is not None
            and self._point.setup == setup
            and not self.points.is_stateless
        )
        if self._point is None or not goes_on:
            return NextRequest((*self.lead, *_useful(self._items)), None)
        return NextRequest(_useful(self._items[self._known :]), self._point.response_id)

    def miss(self) -> None:
        """Note that the server doesn't know what the last request went on from."""
        if self._point is not None:
            self.points.miss(self._point.response_id)
            self._point = None

    def hear(self, outcome: ResponseOutcome, shown: Shown, setup: bytes) -> Work[None]:
        """Take in a response, in short steps: its record, and the part that was shown.

        Nothing changes before the last step.
        """
        thought = outcome.usage is not None and bool(outcome.usage.reasoning_tokens)
        outcome = _as_shown(outcome, shown)
        yield
        repeated = yield from heard(outcome, "".join(shown.own))
        calls: list[bytes] = []
        for call in shown.calls:
            calls.append(written_call(call))
            yield
        server_ids: dict[str, str] = {}
        """Those that don't follow from the editor's: the others are known in every process."""
        for call_id, open_call in repeated.calls.items():
            if inward(call_id) != open_call.server_id:
                server_ids[call_id] = open_call.server_id
            yield
        self.has_thought = self.has_thought or thought or "reasoning" in repeated.kinds
        self._has_more = self._has_more or not repeated.kinds <= _PLAIN_KINDS
        self._track.say("".join(shown.own), calls)
        self._shown.say("".join(shown.texts), calls)
        self._items += repeated.items
        self._open, self._approvals = repeated.calls, repeated.approvals
        self.points.keep_ids(server_ids)
        compacted = [at for at, one in enumerate(self._items) if isinstance(one, CompactionItem)]
        if compacted:
            del self._items[: compacted[-1]]
            self._point = None
        if outcome.previous_response_id and outcome.status == "completed":
            self.points.hit()
        if repeated.is_chainable and outcome.response_id and not compacted:
            self._point = Point(outcome.response_id, setup, server_ids)
            self._known = len(self._items)
            for digest in dict.fromkeys((self._track.digest, self._shown.digest)):
                self.points.keep(digest, self._point)


def _as_shown(outcome: ResponseOutcome, shown: Shown) -> ResponseOutcome:
    """Return what is known of a response, as far as the editor knows it, too."""
    ids = {call.call_id for call in shown.calls}
    calls = tuple(call for call in outcome.calls if call.call_id in ids)
    approvals = tuple(one for one in outcome.approvals if one.call_id in shown.asked)
    status = outcome.status if shown.is_whole else "open"
    return replace(outcome, calls=calls, approvals=approvals, status=status)


def _approval(request_id: str, answer: PermissionAnswer) -> ApprovalItem:
    """Return the answer for the server; only for a denial it gets the reason."""
    is_allowed = answer.decision is Decision.ALLOWED
    reason = None if is_allowed else answer.reason or None
    return ApprovalItem(request_id, is_allowed, reason)


def _lead(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the system messages that everything begins with."""
    return tuple(
        takewhile(
            lambda one: isinstance(one, MessageItem) and one.role in ("system", "developer"), items
        )
    )


def _useful(items: Sequence[Item]) -> tuple[Item, ...]:
    """Leave out reasoning of earlier turns: it is of use only until the user speaks again."""
    last = max((at for at, one in enumerate(items) if _is_spoken(one)), default=-1)
    return tuple(
        one for at, one in enumerate(items) if at > last or not isinstance(one, ReasoningItem)
    )


def _is_spoken(item: Item) -> bool:
    """Tell whether it is the user's; what tools return beside their results isn't."""
    if isinstance(item, BesideItem):
        return False
    return isinstance(item, MessageItem) and item.role == "user"

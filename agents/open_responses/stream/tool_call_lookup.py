"""Which call something is about: looked for by every key that fits, the surest first.

Without a key the order decides, but only where it is unambiguous. Arguments that may belong to
several calls get a record without a name, until an item claims them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from agents.loading import load

from .events import OutputItem, StreamEvent
from .tool_call import CallState, FunctionCall, digest_of, parse, text_of

MOST_TRIED = 64
"""Calls that are looked at for what is said without a key: a round of so many is unheard of."""

Key = TypeVar("Key", str, int, bytes)


class CallSearch:
    """The records of all calls of one response, in the order in which they were heard of."""

    def __init__(self) -> None:
        self.records: list[FunctionCall] = []
        self._by_item_ids: dict[str, FunctionCall] = {}
        self._by_indices: dict[int, FunctionCall] = {}
        self._by_call_ids: dict[str, dict[int, FunctionCall]] = {}
        """By their ids and places."""
        self._noted: dict[int, str] = {}
        """The call ids under which the records can be found, by the places of these."""
        self._sent: dict[bytes, FunctionCall] = {}
        self._awaiting_arguments: dict[int, FunctionCall] = {}
        self._unfinished: dict[int, FunctionCall] = {}
        self._nameless: dict[int, FunctionCall] = {}
        """These three are cleared of others when they are looked through."""
        self._ids_stay = False
        """Whether an event was seen that has the item id of the item that was announced."""

    def new(self) -> FunctionCall:
        """Return the record of a new call."""
        place = len(self.records)
        record = FunctionCall(place=place)
        self.records.append(record)
        self._awaiting_arguments[place] = record
        self._unfinished[place] = self._nameless[place] = record
        return record

    def note(self, record: FunctionCall) -> None:
        """Learn by what keys a record can be found now. Call it when they have changed."""
        if record.item_id:
            _keep_newest(self._by_item_ids, record.item_id, record)
        if record.output_index is not None:
            _keep_newest(self._by_indices, record.output_index, record)
        before = self._noted.get(record.place)
        if record.call_id and record.call_id != before:
            if before is not None:
                del self._by_call_ids[before][record.place]
            self._noted[record.place] = record.call_id
            self._by_call_ids.setdefault(record.call_id, {})[record.place] = record
        if record.state is CallState.SENT:
            _keep_newest(self._sent, record.digest, record)

    def nameless(self) -> list[FunctionCall]:
        """Return the oldest records that may be nothing but arguments, a bounded number of them."""
        return _first(self._nameless, lambda record: record.is_stray)

    def announced(self, item: OutputItem, index: int | None) -> FunctionCall:
        """Return the call that begins: known, if it was announced before, or its arguments came."""
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is not None and record.call_id is None and not record.is_finished:
            return record  # its arguments came first
        return self.new()

    def finished(self, item: OutputItem, index: int | None) -> FunctionCall:
        """Return the call whose item is done.

        An item with other ids, at another index, is the next call that asks the same: vLLM gives
        the item of a call, when it is done, another call id and the next index.
        """
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        digest = digest_of(parse(item.arguments))
        here = self._at(index)
        if here is not None and not _can_be(here, item, digest):
            here = None
        if here is not None and here.asks(digest):
            return here
        left = [
            record
            for record in _first(self._unfinished, lambda r: not r.is_finished)
            if record.name == item.name
        ]
        same = next((record for record in left if record.asks(digest)), None)
        if same is None and index is None:
            same = next((one for one in left if _may_be_of(one, item)), None)
        return same or here or self.new()

    def of_arguments(self, event: StreamEvent) -> FunctionCall:
        """Return the call of some arguments: by call id, item id, that as a call id, the index."""
        record = self._by_item_id(event.call_id) or self._by_item_id(event.item_id)
        if record is not None:
            self._ids_stay = True
        else:
            record = self._at(event.output_index)
            if record is not None and record.is_finished and event.item_id:
                record = None  # a server that gives all items the same index
        if record is None and event.output_index is None:
            is_known_by_id = bool(event.item_id) and self._ids_stay
            if not is_known_by_id:  # no key is left but the order
                record = self._awaiting(event)
        if record is None:
            record = self._asking(event) or self._only_awaiting(event.name) or self.new()
        record.learn(event.item_id, event.output_index)
        record.call_id = record.call_id or event.call_id
        self.note(record)
        if event.item_id:  # which may be another than that of its item
            _keep_newest(self._by_item_ids, event.item_id, record)
        return record

    # By a key.

    def _by_item_id(self, item_id: str | None) -> FunctionCall | None:
        """Return the newest with that id; some servers put the call id there."""
        if not item_id:
            return None
        known = self._by_item_ids.get(item_id)
        if known is None and (named := self._by_call_ids.get(item_id)):
            known = named[max(islice(reversed(named), MOST_TRIED))]
        return known

    def _by_call_id(self, item: OutputItem, index: int | None) -> FunctionCall | None:
        """Return the one with that call id, if it isn't known to be another with the same."""
        if not item.call_id:
            return None
        named = self._by_call_ids.get(item.call_id, {})
        same = [*islice(named.values(), MOST_TRIED)]
        other = self._by_item_ids.get(item.call_id)
        if other is not None and not other.call_id:
            same.append(other)
        same.sort(key=lambda record: record.place)
        for record in same:
            if item.id and record.item_id == item.id:
                return record
        return next((record for record in same if not record.clashes(item.id, index)), None)

    def _at(self, index: int | None) -> FunctionCall | None:
        """Return the newest there; not arguments that were found to be those of a call."""
        record = None if index is None else self._by_indices.get(index)
        return None if record is not None and record.is_claimed else record

    # By the order.

    def _awaiting(self, event: StreamEvent) -> FunctionCall | None:
        """Return the only call that can be meant, None where there are several, or none."""
        waiting = [
            record
            for record in _first(
                self._awaiting_arguments, lambda r: r.awaits_arguments, newest=True
            )
            if not event.call_id or record.call_id in (None, "", event.call_id)
        ]
        named = [record for record in waiting if record.name]
        text = text_of(load(event.arguments))
        digest = digest_of(parse(text)) if text else b""
        if not waiting:
            return self._sent.get(digest)
        if len(named) < 2:
            return waiting[-1]
        partly = [record for record in named if record.is_partial()]
        if len(partly) == 1:
            return partly[0]
        if event.item_id:
            return None
        return next((record for record in waiting if not record.has_key), None)

    def _asking(self, event: StreamEvent) -> FunctionCall | None:
        """Return the next call that asks the same: its pieces came at another index."""
        text = text_of(load(event.arguments))
        if not text:
            return None
        digest = digest_of(parse(text))
        waiting = _first(self._awaiting_arguments, lambda r: r.awaits_arguments)
        named = [one for one in waiting if one.name and event.name in (None, "", one.name)]
        return next((one for one in named if one.deltas and one.asks(digest)), None)

    def _only_awaiting(self, name: str | None) -> FunctionCall | None:
        """Return the call of that name, if only one awaits arguments."""
        waiting = _first(self._awaiting_arguments, lambda r: r.awaits_arguments, newest=True)
        named = [record for record in waiting if name and record.name == name]
        return named[0] if len(named) == 1 else None


def _keep_newest(known: dict[Key, FunctionCall], key: Key, record: FunctionCall) -> None:
    if key not in known or known[key].place < record.place:
        known[key] = record


def _first(
    known: dict[int, FunctionCall],
    counts: Callable[[FunctionCall], bool],
    *,
    newest: bool = False,
) -> list[FunctionCall]:
    """Return the first records that count, or the newest; forget those that don't on the way.

    One that doesn't count never will again, so each is looked at only once.
    """
    found: list[FunctionCall] = []
    others: list[int] = []
    for place in reversed(known) if newest else known:
        if len(found) == MOST_TRIED:
            break
        if counts(known[place]):
            found.append(known[place])
        else:
            others.append(place)
    for place in others:
        del known[place]
    return found[::-1] if newest else found


def _can_be(record: FunctionCall, item: OutputItem, digest: bytes) -> bool:
    """Tell whether an item with other ids is the call at the same index."""
    if record.is_finished or (record.name or item.name) != item.name:
        return False
    return record.state is not CallState.SENT or record.digest == digest


def _may_be_of(record: FunctionCall, item: OutputItem) -> bool:
    """Return whether an item is a call without arguments, by the order alone."""
    return not (record.texts or (record.call_id and item.call_id))


SignKey: TypeAlias = Hashable
Sign: TypeAlias = tuple[
    Callable[[FunctionCall], SignKey | None],
    Callable[[OutputItem, bytes], tuple[SignKey | None, ...]],
]
"""The evidence of a record, and of the item that searches for it; None is no evidence."""


def match_steps(
    records: Sequence[FunctionCall],
    items: Sequence[OutputItem],
    found: dict[int, FunctionCall],
) -> Iterator[None]:
    """Find the records of the final output's items, step by step; a new call has none.

    Ids can be others than before, and two calls can differ by their ids alone. So each sign is
    looked for in all items before a weaker sign is. Each call is found once, in linear time.
    """
    digests: list[bytes] = []
    for item in items:
        digests.append(digest_of(parse(item.arguments)))
        yield
    taken: set[int] = set()
    for shows, wants in _SIGNS:
        shown: dict[SignKey, deque[tuple[int, FunctionCall]]] = {}
        for place, record in enumerate(records):
            key = None if place in taken else shows(record)
            if key is not None:
                shown.setdefault(key, deque()).append((place, record))
            yield
        for place, (item, digest) in enumerate(zip(items, digests, strict=True)):
            first = None if place in found else _take_first(shown, wants(item, digest))
            if first is not None:
                taken.add(first[0])
                found[place] = first[1]
            yield


def _take_first(
    shown: dict[SignKey, deque[tuple[int, FunctionCall]]], keys: Iterable[SignKey | None]
) -> tuple[int, FunctionCall] | None:
    """Take the first of the records that show one of the keys."""
    lines = [line for key in keys if key is not None and (line := shown.get(key))]
    return min(lines, key=lambda line: line[0][0]).popleft() if lines else None


def _sent(record: FunctionCall) -> tuple[str | None, bytes] | None:
    return (record.name, record.digest) if record.state is CallState.SENT else None


def _call_id_and_sent(record: FunctionCall) -> SignKey | None:
    sent = _sent(record)
    return (record.call_id, *sent) if record.call_id and sent is not None else None


def _would_be_sent(record: FunctionCall) -> SignKey | None:
    is_asking = record.state is not CallState.SENT and record.is_whole
    return (record.name, record.asked) if is_asking else None


def _unfinished(record: FunctionCall) -> SignKey | None:
    return None if record.state is CallState.SENT else (record.name,)


_SIGNS: tuple[Sign, ...] = (
    (_call_id_and_sent, lambda item, digest: ((item.call_id, item.name, digest),)),
    (lambda record: record.call_id or None, lambda item, _: (item.call_id or None,)),
    (lambda record: record.item_id or None, lambda item, _: (item.id or None,)),
    (_sent, lambda item, digest: ((item.name, digest),)),
    (_would_be_sent, lambda item, digest: ((None, digest), (item.name, digest))),
    (_unfinished, lambda item, _: ((None,), (item.name,))),
)
"""Evidence that an item is a known call, the surest first."""

"""Which call something is about: looked for by every key that fits, the surest first.

Where no key is left, the order decides, but only between calls that it tells apart: arguments that
may be those of one call or another get a record without a name, until an item claims them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from agents.loading import load

from .call_record import CallRecord, CallState, digest_of, parse, text_of
from .events import Item, StreamEvent

MOST_TRIED = 64
"""Calls that are looked at for what is said without a key: a round of so many is unheard of."""

Key = TypeVar("Key", str, int, bytes)


class CallSearch:
    """The records of all calls of one response, in the order in which they were heard of."""

    def __init__(self) -> None:
        self.records: list[CallRecord] = []
        self._by_item_ids: dict[str, CallRecord] = {}
        self._by_indices: dict[int, CallRecord] = {}
        self._by_call_ids: dict[str, dict[int, CallRecord]] = {}
        """By their ids and places."""
        self._noted: dict[int, str] = {}
        """The call ids under which the records can be found, by the places of these."""
        self._sent: dict[bytes, CallRecord] = {}
        self._awaiting_arguments: dict[int, CallRecord] = {}
        self._unfinished: dict[int, CallRecord] = {}
        self._nameless: dict[int, CallRecord] = {}
        """These three are cleared of others when they are looked through."""
        self._ids_stay = False
        """Whether an event was seen that has the item id of the item that was announced."""

    def new(self) -> CallRecord:
        """Return the record of a call that is heard of for the first time."""
        place = len(self.records)
        record = CallRecord(place=place)
        self.records.append(record)
        self._awaiting_arguments[place] = record
        self._unfinished[place] = self._nameless[place] = record
        return record

    def note(self, record: CallRecord) -> None:
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

    def nameless(self) -> list[CallRecord]:
        """Return the oldest records that may be nothing but arguments, a bounded number of them."""
        return _first(self._nameless, lambda record: record.is_stray)

    def announced(self, item: Item, index: int | None) -> CallRecord:
        """Return the call that begins: known, if it was announced before, or its arguments came."""
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is not None and record.call_id is None and not record.is_finished:
            return record  # its arguments came first
        return self.new()

    def finished(self, item: Item, index: int | None) -> CallRecord:
        """Return the call whose item is done."""
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is None:
            here = self._at(index)
            record = here if here is not None and _can_be(here, item) else None
        if record is None and index is None:
            record = self._unclaimed(item)
        return record or self.new()

    def of_arguments(self, event: StreamEvent) -> CallRecord:
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
            record = self.new()
        record.learn(event.item_id, event.output_index)
        record.call_id = record.call_id or event.call_id
        self.note(record)
        return record

    # By a key.

    def _by_item_id(self, item_id: str | None) -> CallRecord | None:
        """Return the newest with that id; some servers put the call id there."""
        if not item_id:
            return None
        known = self._by_item_ids.get(item_id)
        if known is None and (named := self._by_call_ids.get(item_id)):
            known = named[max(islice(reversed(named), MOST_TRIED))]
        return known

    def _by_call_id(self, item: Item, index: int | None) -> CallRecord | None:
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

    def _at(self, index: int | None) -> CallRecord | None:
        return None if index is None else self._by_indices.get(index)

    # By the order.

    def _awaiting(self, event: StreamEvent) -> CallRecord | None:
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

    def _unclaimed(self, item: Item) -> CallRecord | None:
        """Return a call that this item may be, by what it asks or by the order."""
        left = [
            record
            for record in _first(self._unfinished, lambda r: not r.is_finished)
            if record.name == item.name and not (record.call_id and item.call_id)
        ]
        digest = digest_of(parse(item.arguments))
        same = (record for record in left if record.asks(digest))
        silent = (record for record in left if not record.texts)
        return next(same, None) or next(silent, None)


def _keep_newest(known: dict[Key, CallRecord], key: Key, record: CallRecord) -> None:
    if key not in known or known[key].place < record.place:
        known[key] = record


def _first(
    known: dict[int, CallRecord], counts: Callable[[CallRecord], bool], *, newest: bool = False
) -> list[CallRecord]:
    """Return the first records that count, or the newest; forget those that don't on the way.

    One that doesn't count never will again, so each is looked at once in vain.
    """
    found: list[CallRecord] = []
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


def _can_be(record: CallRecord, item: Item) -> bool:
    """Tell whether an item with other ids is the call at the same index."""
    if record.is_finished or (record.name or item.name) != item.name:
        return False
    is_sent = record.state is CallState.SENT
    return not is_sent or record.digest == digest_of(parse(item.arguments))

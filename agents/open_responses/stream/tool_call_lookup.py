"""Find the call that an event is about, by every key that fits, the surest first.

Without a key the order decides, but only where it is unambiguous. Arguments that may belong to
several calls get a record without a name, until an item claims them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from agents.loading import load

from .events import OutputItem, StreamEvent
from .tool_call import CallSource, CallState, FunctionCall, digest_of, parse, text_of

MOST_TRIED = 64
"""Calls that are looked at for what is said without a key: a round of so many is unheard of."""


class CallSearch:
    """The records of all calls of one response, in the order in which they were heard of."""

    def __init__(self) -> None:
        self.records: list[FunctionCall] = []
        self._by_item_ids: dict[str, FunctionCall] = {}
        self._open: dict[int | None, FunctionCall] = {}
        """By their indices, records of the arguments that came last without an id that is known."""
        self._told: dict[tuple[str | int | bytes | None, ...], FunctionCall] = {}
        """The records of the events of arguments, by all that these say: some come twice."""
        self._with_strays: set[int | None] = set()
        """The indices of all of these."""
        self._by_call_ids: dict[str, dict[int, FunctionCall]] = {}
        """By their ids and places."""
        self._unfinished: dict[int, FunctionCall] = {}
        """It is cleared of others when it is looked through."""
        self._ids_stay = False
        """Whether an event was seen that has the item id of the item that was announced."""

    def new(self) -> FunctionCall:
        """Return the record of a new call."""
        place = len(self.records)
        record = FunctionCall(place=place)
        self.records.append(record)
        self._unfinished[place] = record
        return record

    def note(self, record: FunctionCall, call_id: str | None = None) -> None:
        """Learn by what keys a record can be found now. Call it when they have changed."""
        if record.item_id:
            _keep_newest(self._by_item_ids, record.item_id, record)
        for one in filter(None, (record.call_id, call_id)):
            self._by_call_ids.setdefault(one, {})[record.place] = record

    def announced(self, item: OutputItem, index: int | None) -> FunctionCall:
        """Return the call that begins: known, if it was announced before, or its arguments came."""
        record = self._by_ids(item, index, CallSource.ANNOUNCED)
        if self._by_item_id(item.id) not in (None, record):
            item.id = None  # vLLM's older versions begin a call under the id of the item before it
        if record is None:
            self._open.pop(None, None)
        return record or self.new()

    def finished(self, item: OutputItem, index: int | None) -> FunctionCall:
        """Return the call whose item is done; one without arguments may be found by the order."""
        record = self._by_ids(item, index, CallSource.ITEM)
        text = text_of(item.arguments)
        digest = digest_of(parse(text))
        if record is not None and text and _was_another(record, digest):
            return self.new()
        if record is not None or (text and item.call_id):
            return record or self.new()
        left = [
            record
            for record in _first(self._unfinished, lambda r: not r.is_finished)
            if record.name == item.name
        ]
        same = next((one for one in left if text and one.asks(digest)), None)
        here = (
            one
            for one in left
            if one.output_index == index
            and not (text and one.is_heard)
            and (index is not None or not (one.call_id and item.call_id))
        )
        return same or next(here, None) or self.new()

    def of_arguments(self, event: StreamEvent) -> FunctionCall:
        """Return the call of some arguments, by an id; without one, a record of them alone.

        An index isn't enough: vLLM counts it up before the arguments are done.
        """
        text = text_of(load(event.arguments)) or ""
        digest = digest_of(parse(text)) if text else b""
        told = (event.call_id, event.item_id, event.output_index, event.name, digest)
        record = self._told.get(told) if digest else None
        if record is None:
            record = self._by_item_id(event.call_id) or self._by_item_id(event.item_id)
            if record is not None and not _is_of_another(record, event, digest):
                self._ids_stay = True
            else:
                record = self._unkeyed(event, text)
            self._told[told] = record
        record.learn(event.item_id, event.output_index)
        record.call_id = record.call_id or event.call_id
        self.note(record)
        return record

    def _unkeyed(self, event: StreamEvent, text: str) -> FunctionCall:
        """Return the record of the arguments at the index, if they go on; else a new one."""
        if text or event.delta:
            self._with_strays.add(event.output_index)
        is_one_of_many = event.output_index is None or self._ids_stay
        if event.call_id or (event.item_id and is_one_of_many):
            return self.new()
        record = self._open.get(event.output_index)
        if record is None or not _goes_on(record, event, text):
            record = self._open[event.output_index] = self.new()
        return record

    def may_have_more(self, record: FunctionCall) -> bool:
        """Tell whether there are arguments that may be those of a call that seems to have none."""
        places = self._with_strays
        anywhere = record.output_index is None and bool(places)
        return anywhere or not places.isdisjoint((None, record.output_index))

    # By a key.

    def _by_ids(
        self, item: OutputItem, index: int | None, source: CallSource
    ) -> FunctionCall | None:
        """Return the call of an item; not one of another name, or told under another call id."""
        record = self._by_call_id(item, index, source)
        if record is None:
            record = self._by_item_id(item.id)
            is_told = record is not None and source in record.told
        else:
            is_told = source is CallSource.ITEM in record.told
        if record is None or (is_told and item.call_id not in (None, "", record.call_id)):
            return None
        return record if item.name in (None, "", record.name) or not record.name else None

    def _by_item_id(self, item_id: str | None) -> FunctionCall | None:
        """Return the newest with that id; some servers put the call id there."""
        if not item_id:
            return None
        known = self._by_item_ids.get(item_id)
        if known is None and (named := self._by_call_ids.get(item_id)):
            known = named[max(islice(reversed(named), MOST_TRIED))]
        return known

    def _by_call_id(
        self, item: OutputItem, index: int | None, source: CallSource
    ) -> FunctionCall | None:
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
        return next(
            (one for one in same if not (one.clashes(item.id, index) and source in one.told)), None
        )


def _keep_newest(known: dict[str, FunctionCall], key: str, record: FunctionCall) -> None:
    if key not in known or known[key].place < record.place:
        known[key] = record


def _first(
    known: dict[int, FunctionCall],
    counts: Callable[[FunctionCall], bool],
) -> list[FunctionCall]:
    """Return the first records that count; forget those that don't on the way.

    One that doesn't count never will again, so each is looked at only once.
    """
    found: list[FunctionCall] = []
    others: list[int] = []
    for place in known:
        if len(found) == MOST_TRIED:
            break
        if counts(known[place]):
            found.append(known[place])
        else:
            others.append(place)
    for place in others:
        del known[place]
    return found


def _was_another(record: FunctionCall, digest: bytes) -> bool:
    """Tell whether a call was made of another item, with other arguments: servers reuse ids."""
    is_made = record.state is CallState.SENT and CallSource.ITEM in record.told
    return is_made and not record.asks(digest)


def _is_of_another(record: FunctionCall, event: StreamEvent, digest: bytes) -> bool:
    """Tell whether arguments are another call's than the one that their key names."""
    if event.name and record.name and event.name != record.name:
        return True
    return bool(digest) and bool(record.done_text) and not record.asks(digest)


def _goes_on(record: FunctionCall, event: StreamEvent, text: str) -> bool:
    """Tell whether arguments without a key are more of those that came last."""
    if record.has_item or record.done_text is not None:
        return False
    is_same = (event.item_id or None) == record.item_id
    return bool(event.delta) or (is_same and text.startswith("".join(record.deltas)))


_NO_PARAMETERS = digest_of({})

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


def _named(key: str | None, name: str | None) -> tuple[SignKey | None, ...]:
    """Return an id with a name, as it is shown: calls of other names may have the same id."""
    return ((key, name), (key, None)) if key else ()


def _sent(record: FunctionCall) -> tuple[str | None, bytes] | None:
    return (record.name, record.digest) if record.state is CallState.SENT else None


def _with_sent(key: str | None, record: FunctionCall) -> SignKey | None:
    sent = _sent(record)
    return (key, *sent) if key and sent is not None else None


def _would_be_sent(record: FunctionCall) -> SignKey | None:
    is_asking = record.state is not CallState.SENT and record.is_whole
    return (record.name, record.asked) if is_asking else None


def _held(record: FunctionCall) -> SignKey | None:
    return (record.name,) if record.is_held else None


def _unfinished(record: FunctionCall) -> SignKey | None:
    is_open = record.state is not CallState.SENT and record.parameters is None
    return (record.name,) if is_open else None


_SIGNS: tuple[Sign, ...] = (
    (
        lambda record: _with_sent(record.call_id, record),
        lambda item, digest: ((item.call_id, item.name, digest),),
    ),
    (
        lambda record: _with_sent(record.item_id, record),
        lambda item, digest: ((item.id, item.name, digest),),
    ),
    (
        lambda record: (record.call_id, record.name) if record.call_id else None,
        lambda item, _: _named(item.call_id, item.name),
    ),
    (
        lambda record: (record.item_id, record.name) if record.item_id else None,
        lambda item, _: _named(item.id, item.name),
    ),
    (_sent, lambda item, digest: ((item.name, digest),)),
    (_held, lambda item, digest: ((item.name,),) if digest == _NO_PARAMETERS else ()),
    (_would_be_sent, lambda item, digest: ((item.name, digest),)),
    (_held, lambda item, _: ((item.name,),)),
    (_unfinished, lambda item, _: ((item.name,),)),
)
"""Evidence that an item is a known call, the surest first."""

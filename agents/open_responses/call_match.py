"""The calls of the final output, found among those that are known.

Ids there can be others than before, and two calls can be alike but for them. So the surest sign is
looked for in all of them before a weaker one is, and each call is found once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .call_record import CallRecord, CallState, digest_of, parse
from .events import Item

Sign: TypeAlias = Callable[[CallRecord, Item, bytes], bool]


def match(records: Sequence[CallRecord], items: Sequence[Item]) -> dict[int, CallRecord]:
    """Return the records of the items, by the places of these; what is new has none."""
    digests = [digest_of(parse(item.arguments)) for item in items]
    found: dict[int, CallRecord] = {}
    left = list(records)
    for is_same in _SIGNS:
        for place, (item, digest) in enumerate(zip(items, digests, strict=True)):
            if place in found:
                continue
            record = next((record for record in left if is_same(record, item, digest)), None)
            if record is not None:
                found[place] = record
                left.remove(record)
    return found


def _has_call_id(record: CallRecord, item: Item, _digest: bytes) -> bool:
    return bool(item.call_id) and record.call_id == item.call_id


def _has_item_id(record: CallRecord, item: Item, _digest: bytes) -> bool:
    return bool(item.id) and record.item_id == item.id


def _was_sent_so(record: CallRecord, item: Item, digest: bytes) -> bool:
    is_sent = record.state is CallState.SENT
    return is_sent and record.name == item.name and record.digest == digest


def _would_be_sent_so(record: CallRecord, item: Item, digest: bytes) -> bool:
    if record.state is CallState.SENT or record.name not in (None, item.name):
        return False
    return record.asks(digest)


def _is_unfinished(record: CallRecord, item: Item, _digest: bytes) -> bool:
    return record.state is not CallState.SENT and record.name in (None, item.name)


_SIGNS: tuple[Sign, ...] = (
    lambda record, item, digest: (
        _has_call_id(record, item, digest) and _was_sent_so(record, item, digest)
    ),
    _has_call_id,
    _has_item_id,
    _was_sent_so,
    _would_be_sent_so,
    _is_unfinished,
)
"""What shows that an item is a call which is known, the surest first."""

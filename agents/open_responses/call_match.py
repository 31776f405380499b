"""The calls of the final output, found among those that are known, in linear time.

Ids there can be others than before, and two calls can be alike but for them. So the surest sign is
looked for in all of them before a weaker one is, and each call is found once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

from .call_record import CallRecord, CallState, digest_of, parse
from .events import Item

Key: TypeAlias = Hashable
Sign: TypeAlias = tuple[
    Callable[[CallRecord], Key | None], Callable[[Item, bytes], tuple[Key | None, ...]]
]
"""What a record shows, and what an item looks for; None shows nothing."""


def match_steps(
    records: Sequence[CallRecord], items: Sequence[Item], found: dict[int, CallRecord]
) -> Iterator[None]:
    """Find the records of the items, by the places of these, step by step; what is new has none."""
    digests: list[bytes] = []
    for item in items:
        digests.append(digest_of(parse(item.arguments)))
        yield
    taken: set[int] = set()
    for shows, wants in _SIGNS:
        shown: dict[Key, deque[tuple[int, CallRecord]]] = {}
        for place, record in enumerate(records):
            key = None if place in taken else shows(record)
            if key is not None:
                shown.setdefault(key, deque()).append((place, record))
            yield
        for place, (item, digest) in enumerate(zip(items, digests, strict=True)):
            first = None if place in found else _first(shown, wants(item, digest))
            if first is not None:
                taken.add(first[0])
                found[place] = first[1]
            yield


def _first(
    shown: dict[Key, deque[tuple[int, CallRecord]]], keys: Iterable[Key | None]
) -> tuple[int, CallRecord] | None:
    """Take the first of the records that show one of the keys."""
    lines = [line for key in keys if key is not None and (line := shown.get(key))]
    return min(lines, key=lambda line: line[0][0]).popleft() if lines else None


def _sent(record: CallRecord) -> tuple[str | None, bytes] | None:
    return (record.name, record.digest) if record.state is CallState.SENT else None


def _call_id_and_sent(record: CallRecord) -> Key | None:
    sent = _sent(record)
    return (record.call_id, *sent) if record.call_id and sent is not None else None


def _would_be_sent(record: CallRecord) -> Key | None:
    is_asking = record.state is not CallState.SENT and record.is_whole
    return (record.name, record.asked) if is_asking else None


def _unfinished(record: CallRecord) -> Key | None:
    return None if record.state is CallState.SENT else (record.name,)


_SIGNS: tuple[Sign, ...] = (
    (_call_id_and_sent, lambda item, digest: ((item.call_id, item.name, digest),)),
    (lambda record: record.call_id or None, lambda item, _: (item.call_id or None,)),
    (lambda record: record.item_id or None, lambda item, _: (item.id or None,)),
    (_sent, lambda item, digest: ((item.name, digest),)),
    (_would_be_sent, lambda item, digest: ((None, digest), (item.name, digest))),
    (_unfinished, lambda item, _: ((None,), (item.name,))),
)
"""What shows that an item is a call which is known, the surest first."""

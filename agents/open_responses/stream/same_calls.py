"""Records of the same call: of the same name and arguments, and of no source that told of both.

No key shows it, because servers give a call other ids and another index from source to source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

from .tool_call import CallState, FunctionCall, Source
from .tool_call_lookup import MOST_TRIED

_Asked = tuple[str | None, bytes]


class MadeCalls:
    """The calls that were made, found by what they ask and by the sources that told of them."""

    def __init__(self, records: Iterable[FunctionCall]) -> None:
        self._made: dict[_Asked, dict[Source, deque[FunctionCall]]] = {}
        for record in made_of(records):
            self._add(record)

    def has(self, record: FunctionCall) -> bool:
        """Tell whether a call was made by another record; otherwise it counts as made."""
        lines = self._made.get((record.name, record.digest), {})
        for told, line in [*lines.items()]:
            while line and line[0].told != told:
                self._add(line.popleft())  # more was told of it since
        for told, line in lines.items():
            if line and not told & record.told & ~Source.PIECES:
                first = line.popleft()
                first.told |= record.told
                self._add(first)
                return True
        self._add(record)
        return False

    def _add(self, record: FunctionCall) -> None:
        lines = self._made.setdefault((record.name, record.digest), {})
        lines.setdefault(record.told, deque()).append(record)


def absorb(records: Sequence[FunctionCall]) -> None:
    """Find the whole arguments of calls that were made, each those of the first without."""
    without: dict[_Asked, deque[FunctionCall]] = {}
    for record in made_of(records):
        for name in (record.name, None):
            without.setdefault((name, record.digest), deque()).append(record)
    strays = [one for one in records if one.is_stray and Source.ARGUMENTS in one.told]
    for stray in sorted(strays, key=lambda one: not one.name):
        line = without.get((stray.name or None, stray.asked), deque())
        while stray.is_whole and not stray.is_matched and line:
            record = line.popleft()
            if Source.ARGUMENTS not in record.told:
                record.told |= Source.ARGUMENTS
                stray.is_matched = True


def excuse(records: Sequence[FunctionCall]) -> None:
    """Find the announcements, perhaps with pieces, of calls that were made under other keys."""
    left: dict[str | None, dict[int, FunctionCall]] = {}
    for record in made_of(records):
        if Source.ANNOUNCED not in record.told:
            left.setdefault(record.name, {})[record.place] = record
    for record in sorted(records, key=lambda one: not one.deltas):
        if record.state is CallState.OPEN and record.told & ~Source.PIECES is Source.ANNOUNCED:
            pieces = "".join(record.deltas)
            for made in islice(left.get(record.name, {}).values(), MOST_TRIED):
                if not pieces or any(pieces in text for text in made.texts):
                    del left[record.name][made.place]
                    record.state, record.is_repeated = CallState.SENT, True
                    break


def made_of(records: Iterable[FunctionCall]) -> Iterable[FunctionCall]:
    """Return the records whose calls were made, each call once."""
    return (one for one in records if one.state is CallState.SENT and not one.is_repeated)

"""Records of the same call: of the same name and arguments, and of no source that told of both.

No key shows it, because servers give a call other ids and another index from source to source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from .tool_call import CallSource, CallState, FunctionCall
from .tool_call_lookup import MOST_TRIED

_Asked = tuple[str | None, bytes]


class MadeCalls:
    """The calls that were made, found by what they ask and by the sources that told of them."""

    def __init__(self) -> None:
        self._made: dict[_Asked, dict[CallSource, deque[FunctionCall]]] = {}

    def add(self, record: FunctionCall) -> None:
        """Take a call that was made."""
        lines = self._made.setdefault((record.name, record.digest), {})
        lines.setdefault(record.told, deque()).append(record)

    def has(self, record: FunctionCall) -> bool:
        """Tell whether a call was made by another record; otherwise it counts as made."""
        lines = self._made.get((record.name, record.digest), {})
        for told, line in [*lines.items()]:
            while line and line[0].told != told:
                self.add(line.popleft())  # more was told of it since
        for told, line in lines.items():
            if line and not told & record.told & ~CallSource.PIECES:
                first = line.popleft()
                first.told |= record.told
                self.add(first)
                return True
        self.add(record)
        return False


def absorb(records: Sequence[FunctionCall]) -> Iterator[None]:
    """Find the whole arguments of calls that were made, step by step: the first without has them.

    Those with a name come first.
    """
    without: dict[_Asked, deque[FunctionCall]] = {}
    strays: tuple[list[FunctionCall], list[FunctionCall]] = [], []
    for record in records:
        if is_made(record):
            for name in (record.name, None):
                without.setdefault((name, record.digest), deque()).append(record)
        elif record.is_stray and CallSource.ARGUMENTS in record.told:
            strays[not record.name].append(record)
        yield
    for stray in chain(*strays):
        line = without.get((stray.name or None, stray.asked), deque())
        while stray.is_whole and not stray.is_matched and line:
            record = line.popleft()
            if CallSource.ARGUMENTS not in record.told:
                record.told |= CallSource.ARGUMENTS
                stray.is_matched = True
        yield


def excuse(records: Sequence[FunctionCall]) -> Iterator[None]:
    """Find announcements of calls that were made under other keys, step by step.

    Those with pieces come first, because the arguments of their call have these.
    """
    left: dict[str | None, dict[int, FunctionCall]] = {}
    silent: tuple[list[FunctionCall], list[FunctionCall]] = [], []
    for record in records:
        if is_made(record):
            if CallSource.ANNOUNCED not in record.told:
                left.setdefault(record.name, {})[record.place] = record
        elif (
            record.state is CallState.OPEN
            and record.told & ~CallSource.PIECES is CallSource.ANNOUNCED
        ):
            silent[not record.deltas].append(record)
        yield
    for record in chain(*silent):
        pieces = "".join(record.deltas)
        for made in islice(left.get(record.name, {}).values(), MOST_TRIED):
            if not pieces or any(pieces in text for text in made.texts):
                del left[record.name][made.place]
                made.told |= record.told
                record.state, record.is_repeated = CallState.SENT, True
                break
        yield


def is_made(record: FunctionCall) -> bool:
    """Tell whether its call was made, and by no other record."""
    return record.state is CallState.SENT and not record.is_repeated

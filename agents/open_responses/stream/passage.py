"""The text of one item: the part that was emitted, and the part that is missing.

Only lengths and checksums of the emitted text are kept, so a long stream needs no memory. They
suffice to see whether a whole text begins with the emitted one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TypeAlias
from zlib import crc32

import attrs

MOST_PARTS = 5_000
"""Parts of an item's text; what is at more places belongs to the last one."""

Texts: TypeAlias = Sequence[tuple[int, str]]
"""The texts of an item's parts, with the places of the parts."""
FinalItem: TypeAlias = tuple[str | None, int, Texts]
"""An item of the final output: its id, its index, its texts."""


@attrs.define(eq=False, repr=False)
class PassagePart:
    """A part of an item's text; `length` and `checksum` belong to its emitted text."""

    passage: Passage
    order: int = 0
    """Number of parts of the passage seen before it."""
    length: int = 0
    checksum: int = 0
    is_done: bool = False

    def add(self, text: str) -> None:
        """Count what is said now."""
        if text and not self.length:
            insort(self.passage.spoken, self, key=_ORDER)
            if not self.is_done:
                insort(self.passage.pending, self, key=_ORDER)
        self.length += len(text)
        self.passage.length += len(text)
        self.checksum = crc32(text.encode(), self.checksum)

    def end(self, *, is_done: bool = True) -> None:
        """Note whether more of it is to be emitted."""
        if is_done != self.is_done and self.length:
            pending = self.passage.pending
            if is_done:
                del pending[bisect_left(pending, self.order, key=_ORDER)]
            else:
                insort(pending, self, key=_ORDER)
        self.passage.undone += self.is_done - is_done
        self.is_done = is_done

    def is_at(self, start: int, whole: str) -> bool:
        """Tell whether what was said stands there in the whole."""
        said = whole[start : start + self.length].encode("utf-8", "replace")
        return crc32(said) == self.checksum

    def rest_of(self, whole: str) -> str | None:
        """Return what is missing of the whole; None if something else was said."""
        return whole[self.length :] if self.is_at(0, whole) else None


_ORDER = attrgetter("order")


@attrs.define(eq=False, repr=False)
class Passage:
    """The text of an item. `links` are the addresses that were shown with it."""

    item_id: str | None = None
    output_index: int | None = None
    parts: dict[int, PassagePart] = attrs.field(factory=dict[int, PassagePart])
    """By their places; in the order in which they were first heard of."""
    spoken: list[PassagePart] = attrs.field(factory=list[PassagePart])
    """The parts of which something was said, in the same order."""
    pending: list[PassagePart] = attrs.field(factory=list[PassagePart])
    """Those of them that aren't done."""
    undone: int = 0
    """Number of parts that aren't done, including those without any text."""
    length: int = 0
    """Number of characters that were emitted."""
    links: set[str] = attrs.field(factory=set[str])
    owed: str = ""
    """Text of a whole that was emitted ahead of deltas that may still come."""
    numbers_deltas: bool = False
    """Whether its places number its deltas, and not its parts."""
    is_streamed: bool = False
    """Whether a delta of it came."""
    is_done: bool = False
    is_matched: bool = False
    """Whether it was found in the final output."""

    @property
    def is_open(self) -> bool:
        """Whether more text may come."""
        return not self.is_done and not (self.parts and not self.undone)

    def part(self, place: int) -> PassagePart:
        """Return the part at a place; it begins with that."""
        part = self.parts.get(place)
        if part is None and len(self.parts) >= MOST_PARTS:
            return next(reversed(self.parts.values()))
        if part is None:
            part = self.parts[place] = PassagePart(self, len(self.parts))
            self.undone += 1
        return part

    def begins(self, texts: Texts) -> bool:
        """Tell whether these texts begin with all that was emitted."""
        return rest_after(self.spoken, join(texts)) is not None

    def ends_in(self, text: str) -> bool:
        """Tell whether the last parts, whole ones, are just this text."""
        last: list[PassagePart] = []
        left = len(text)
        for part in reversed(self.spoken):
            if left <= 0:
                break
            last.append(part)
            left -= part.length
        return left == 0 and rest_after(reversed(last), text) == ""

    def tells(self, texts: Texts) -> bool:
        """Tell whether just these texts were said."""
        return rest_after(self.spoken, join(texts)) == ""


def join(texts: Texts) -> str:
    """Return the texts as one."""
    return "".join(text for _, text in texts)


def rest_after(parts: Iterable[PassagePart], whole: str) -> str | None:
    """Return what follows the parts in the whole; None if it doesn't begin with them."""
    start = 0
    for part in parts:
        if not part.is_at(start, whole):
            return None
        start += part.length
    return whole[start:]

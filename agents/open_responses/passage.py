"""The text of one item: what was said of it, and what is missing.

Of what was said only lengths and checksums are kept, so a long stream needs no memory; they are
enough to see whether a whole text begins with what was said.
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
Told: TypeAlias = tuple[str | None, int, Texts]
"""An item of the final output: its id, its index, its texts."""


@attrs.define(eq=False)
class Part:
    """A part of an item's text; `length` and `checksum` are of what was said of it."""

    passage: Passage
    order: int = 0
    """How many parts of the passage were heard of before it."""
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
        """Note whether anything more is to be said of it."""
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


@attrs.define(eq=False)
class Passage:
    """The text of an item. `links` are the addresses that were shown with it."""

    item_id: str | None = None
    output_index: int | None = None
    parts: dict[int, Part] = attrs.field(factory=dict[int, Part])
    """By their places; in the order in which they were first heard of."""
    spoken: list[Part] = attrs.field(factory=list[Part])
    """The parts of which something was said, in the same order."""
    pending: list[Part] = attrs.field(factory=list[Part])
    """Those of them that aren't done."""
    undone: int = 0
    """How many parts aren't done, with those of which nothing was said."""
    length: int = 0
    """How much was said of it."""
    links: set[str] = attrs.field(factory=set[str])
    owed: str = ""
    """What was said of a whole text, ahead of deltas that may still come."""
    is_streamed: bool = False
    """Whether any of it came in deltas."""
    is_done: bool = False
    is_matched: bool = False
    """Whether it was found in the final output."""

    @property
    def is_open(self) -> bool:
        """Whether more is to be expected of it."""
        return not self.is_done and not (self.parts and not self.undone)

    def part(self, place: int) -> Part:
        """Return the part at a place; it begins with that."""
        part = self.parts.get(place)
        if part is None and len(self.parts) >= MOST_PARTS:
            return next(reversed(self.parts.values()))
        if part is None:
            part = self.parts[place] = Part(self, len(self.parts))
            self.undone += 1
        return part

    def begins(self, texts: Texts) -> bool:
        """Tell whether all that was said of it is the beginning of these texts."""
        return rest_after(self.spoken, join(texts)) is not None

    def ends_in(self, text: str) -> bool:
        """Tell whether the last parts, whole ones, are just this text."""
        last: list[Part] = []
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


def rest_after(parts: Iterable[Part], whole: str) -> str | None:
    """Return what follows the parts in the whole; None if it doesn't begin with them."""
    start = 0
    for part in parts:
        if not part.is_at(start, whole):
            return None
        start += part.length
    return whole[start:]

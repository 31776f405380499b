"""The texts of a response, each said once: what came in deltas, and what only came whole.

A passage is the text of one item: of a message, or of some reasoning. A part is found by the item's
id, its index, the order or its emitted text, because no key is reliable.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from .passage import FinalItem, Passage, PassagePart, Texts, join, rest_after

MOST_TRIED = 32
"""Most texts of a response that are searched for text without a known key."""


class Passages:
    """All messages of one response, or all its reasoning."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._by_id: dict[str, Passage] = {}
        self._by_index: dict[int, Passage] = {}
        self._ids_stay = False
        """Whether an id was seen twice."""
        self._last = PassagePart(Passage())
        self._last_key: tuple[str | None, int | None, int | None] | None = None

    @property
    def speaker(self) -> PassagePart:
        """The part that was spoken last."""
        return self._last

    def open(self, item_id: str | None, index: int | None) -> None:
        """Take the beginning of an item."""
        known = self._by_id.get(item_id) if item_id else None
        if known is None and index is not None:
            known = self._by_index.get(index)
            if known is not None and known.is_done and known.item_id != item_id:
                known = None  # a server that gives all items the same index
        if known is None:
            self._new(item_id, index)
        self._last_key = None

    def near(self, item_id: str | None, index: int | None) -> Passage:
        """Return the passage that an event is about, or else the newest."""
        newest = self._passages[-1] if self._passages else Passage()
        return self._known(item_id, index) or newest

    def add(self, item_id: str | None, index: int | None, place: int | None, delta: str) -> str:
        """Take a delta; return the part of it to emit."""
        key = (item_id, index, place)
        if key == self._last_key:
            part = self._last
        else:
            passage = self._known(item_id, index) or self._new(item_id, index)
            part = self._last = passage.part(place or 0)
            passage.is_streamed = True
            self._last_key = key
        if part.is_done or (part.passage.owed and not part.length):
            return self._late(part, delta, has_key=bool(item_id) or index is not None)
        part.add(delta)
        return delta

    def complete(self, item_id: str | None, index: int | None, place: int | None, text: str) -> str:
        """Take the whole text of a part; return the missing rest."""
        passage = self._known(item_id, index)
        if passage is None and index is None:
            passage = self._telling([(0, text)])
        passage = passage or self._new(item_id, index)
        part = passage.parts.get(place or 0)
        # Places can't be trusted where each delta, and each whole, has its own.
        pending = passage.pending
        if len(pending) > 1 or (pending and part is None):
            rest = rest_after(pending, text)
            if rest is not None:
                passage.numbers_deltas |= len(pending) > 1
                last = pending[-1]
                for one in reversed(tuple(pending)):
                    one.end()
                return self._say(last, rest)
            if part is None or part.rest_of(text) is None:
                passage.numbers_deltas |= _numbers_deltas(passage, place or 0)
        if passage.numbers_deltas:  # what was said is another beginning of it
            for one in reversed(tuple(pending)):
                one.end()
            return ""
        if part is None and passage.ends_in(text):
            return ""
        part = passage.part(place or 0)
        rest = part.rest_of(text)
        part.end(is_done=bool(text))
        return self._say(part, rest or "")

    def finished(self, item_id: str | None, index: int | None, texts: Texts) -> Passage:
        """Look for the passage of an item that is done; it may be there under two names."""
        found = self._known(item_id, index)
        if found is None:
            found = self._telling(texts)
            if found is not None and index is not None and not found.is_streamed:
                found = None  # nothing comes in deltas here, and an index is sure: another item
        elif not (found.length or found.is_done):
            for other in self._passages[-MOST_TRIED:]:
                is_here = index is not None and other.output_index == index
                is_double = other.is_done and other.is_streamed
                if (is_here or is_double) and other.length and other.tells(texts):
                    return other
        return found or self._new(item_id, index)

    def finish(self, passage: Passage, texts: Texts) -> Iterator[tuple[PassagePart, str]]:
        """Take all texts of an item that is done; return what is missing, by its parts."""
        passage.is_done = True
        return self._missing(passage, texts)

    def conclude(self, items: Sequence[FinalItem]) -> Iterator[tuple[PassagePart, str] | None]:
        """Take the items of the final output (id, index, texts); return what is missing.

        None is the end of a step.

        The whole output may begin with the emitted text, even if its items have other ids. If not,
        each item is searched by its emitted text, by its id and by its index.
        """
        whole = [(0, text) for _, _, texts in items for _, text in texts]
        rest = rest_after(self._parts(), "".join(text for _, text in whole))
        if rest == "":
            return
        yield None
        left = list(items)
        for sign in _Sign:
            unmatched = _Unmatched(self._passages, sign)
            rest_of_items: list[tuple[str | None, int, Texts]] = []
            for item in left:
                passage = unmatched.take(*item)
                if passage is None:
                    rest_of_items.append(item)
                else:
                    yield from self._missing(passage, item[2])
                yield None
            left = rest_of_items
        if all(passage.is_matched or not passage.length for passage in self._passages):
            for item_id, _, texts in left:
                yield from self._missing(self._new(item_id, None), texts)
                yield None

    # The missing text.

    def _missing(self, passage: Passage, texts: Texts) -> Iterator[tuple[PassagePart, str]]:
        """Say what is missing of a whole item."""
        whole = join(texts)
        rest = rest_after(passage.spoken, whole)
        if rest is not None:
            said = len(whole) - len(rest)
            for place, text in texts:
                yield from self._told(passage.part(place), text[said:])
                said = max(0, said - len(text))
            return
        if len(passage.parts) > len(texts):
            return  # the places are not those of the item
        for place, text in texts:
            part = passage.part(place)
            if not part.is_done:
                yield from self._told(part, part.rest_of(text) or "")

    def _told(self, part: PassagePart, text: str) -> Iterator[tuple[PassagePart, str]]:
        if text:
            part.end()
            yield part, self._say(part, text)

    def _say(self, part: PassagePart, text: str) -> str:
        if text:
            part.add(text)
            part.passage.owed = text
            self._last, self._last_key = part, None
        return text

    def _late(self, part: PassagePart, delta: str, *, has_key: bool) -> str:
        """Take a delta for what is done; it is new only where nothing says what it belongs to."""
        passage = part.passage
        if passage.owed.startswith(delta):
            passage.owed = passage.owed[len(delta) :]
            part.end()
            return ""
        if not part.is_done:
            passage.owed = ""  # the rest of the text never comes
            part.add(delta)
            return delta
        if has_key:
            return ""
        self._new(None, None)
        self._last_key = None
        return self.add(None, None, None, delta)

    # Finding.

    def _new(self, item_id: str | None, index: int | None) -> Passage:
        passage = Passage(item_id, index)
        self._passages.append(passage)
        if item_id:
            self._by_id[item_id] = passage
        if index is not None:
            self._by_index[index] = passage
        return passage

    def _parts(self) -> Iterator[PassagePart]:
        return (part for passage in self._passages for part in passage.spoken)

    def _known(self, item_id: str | None, index: int | None) -> Passage | None:
        """Look by the id, by the index, or else by the order.

        An index is more reliable than an unknown id, because some servers change the id in every
        event. Servers with stable ids may give all items the same index.
        """
        if item_id and (found := self._by_id.get(item_id)) is not None:
            self._ids_stay = True
            return found
        if index is not None:
            found = self._by_index.get(index)
            is_another = found is not None and found.is_done and item_id and self._ids_stay
            return None if is_another else found
        newest = self._passages[-1] if self._passages else None
        return newest if newest and (newest.is_open or not item_id) else None

    def _telling(self, texts: Texts) -> Passage | None:
        """Find the part that has just emitted these texts: under another id, or a second time."""
        length = len(join(texts))
        newest = self._passages[: -MOST_TRIED - 1 : -1]
        said = (one for one in newest if one.length == length > 0)
        return next((one for one in said if one.tells(texts)), None)


def _numbers_deltas(passage: Passage, place: int) -> bool:
    """Tell whether places number the deltas of a passage, and not its parts.

    Then each delta has a place, and none is done before the whole comes.
    """
    last = max(passage.parts, default=0)
    return (len(passage.pending) > 1 and passage.undone == len(passage.parts)) or place > last + 1


class _Sign(enum.Enum):
    """Evidence that an item of the final output is a known one, the surest first."""

    ID = enum.auto()
    BEGINNING = enum.auto()
    INDEX = enum.auto()


class _Unmatched:
    """The passages that no item of the final output was found to be, by one sign."""

    def __init__(self, passages: Iterable[Passage], sign: _Sign) -> None:
        self._sign = sign
        self._left: dict[object, dict[int, Passage]] = {}
        for place, passage in enumerate(passages):
            if not passage.is_matched and (key := self._key(passage)) is not None:
                self._left.setdefault(key, {})[place] = passage

    def take(self, item_id: str | None, index: int, texts: Texts) -> Passage | None:
        """Return the first passage that is this item, once; None if there is none."""
        wanted = {_Sign.ID: item_id, _Sign.BEGINNING: True, _Sign.INDEX: index}[self._sign]
        places = self._left.get(wanted, {})
        for place in islice(places, MOST_TRIED):
            passage = places[place]
            if self._sign is not _Sign.BEGINNING or passage.begins(texts):
                passage.is_matched = True
                del places[place]
                return passage
        return None

    def _key(self, passage: Passage) -> object:
        match self._sign:
            case _Sign.ID:
                return passage.item_id or None
            case _Sign.BEGINNING:
                return True if passage.length else None
            case _:
                return passage.output_index

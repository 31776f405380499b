"""Fit the record of a chat into the context that an agent has room for.

`ContextWindow` says how many bytes a record may take. Long entries that the agent can look up again
are shortened first: the middle of calls, results and files, the oldest first. Then the oldest
entries are left out. The last one that is left out is cut to the bytes that remain.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import assert_never

import attrs
from msgspec.structs import replace

from agents.acp.schema.content import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from bridge.work import Work

from .attachments import Atom

USUAL_WINDOW = 200_000
"""Tokens that an agent is taken to have room for while it hasn't said how many they are."""
_BYTES_PER_TOKEN = 3
"""Few: prose has more, but Chinese, Japanese and Korean as many, and no text that people write has
far fewer. Counting the tokens of a long chat would keep the user waiting."""


@attrs.define(eq=False, repr=False)
class ContextWindow:
    """The context size of an agent's sessions, from the last session that reported it.

    A session reports its size too late for its own record, so the size of other sessions is used.
    """

    tokens: int | None = None
    """None: it hasn't said how many they are."""
    report: Callable[[int], None] = lambda _: None
    """Called when a session has another size than it had."""

    @property
    def record_budget(self) -> int:
        """Most bytes of UTF-8 for a record: half the context, the rest is for later turns."""
        return (self.tokens or USUAL_WINDOW) * _BYTES_PER_TOKEN // 2


NOTE = 48
"""The most bytes of a note that a million megabytes are missing, and of any shorter one."""
_JOINER = "\N{ZERO WIDTH JOINER}"


def size_of(text: str) -> int:
    """Return how many bytes a text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def shortened(text: str, most: int) -> str:
    """Return the beginning and the end of a text, of at most `most` bytes, and a note between.

    A note says how many characters are missing; it comes on top. No character is cut.
    """
    if size_of(text) <= most:
        return text
    at = _beginning(text, most - most // 3)
    to = max(at, _end(text, most // 3))
    return f"{text[:at]}\n[… {to - at:,} characters left out …]\n{text[to:]}"


def _beginning(text: str, most: int) -> int:
    """Return where a beginning of at most `most` bytes ends."""
    at = _fitting(text[:most], most)
    while 0 < at < len(text) and _belongs(text, at):
        at -= 1
    return at


def _end(text: str, most: int) -> int:
    """Return where an end of at most `most` bytes begins."""
    tail = text[max(0, len(text) - most) :]
    at = len(text) - _fitting(tail[::-1], most)
    while at < len(text) and _belongs(text, at):
        at += 1
    return at


def _fitting(text: str, most: int) -> int:
    """Return how many of the first characters have at most `most` bytes."""
    lengths = range(1, len(text) + 1)
    return bisect_right(lengths, most, key=lambda length: size_of(text[:length]))


def _belongs(text: str, at: int) -> bool:
    """Return whether readers see the character there and the one before it as one."""
    here, before = text[at], text[at - 1]
    if here in "\r\n":
        return before == "\r"
    if "\udc00" <= here <= "\udfff":
        return "\ud800" <= before <= "\udbff"
    is_tone = "\U0001f3fb" <= here <= "\U0001f3ff"
    is_mark = unicodedata.category(here) in ("Mn", "Mc", "Me")
    return is_tone or is_mark or _JOINER in (here, before)


MOST_IMAGES = 20
"""Images of a transcript that a new session is sent."""
IMAGE = 4800
"""Bytes that an image counts for: 1600 tokens."""
FRAME = 12
"""Bytes around an entry: its mark and its separator."""
_LONG = 1500
"""Bytes of long entries, which are shortened first if a record is too long."""
_LEFT_OF_LONG = 1000
_NO_ATTACHMENT = "\n[Here was an attachment.]\n"


@attrs.define
class PromptEntry:
    """One message, call or result: its author and its content."""

    head: str
    atoms: list[Atom]
    can_shorten: bool = False

    @property
    def text(self) -> str:
        """Its text, without images and other data."""
        return "".join(atom for atom in self.atoms if isinstance(atom, str))

    @property
    def size(self) -> int:
        """Its size in bytes; an image counts as many as its tokens would."""
        return FRAME + size_of(self.head) + sum(map(_size, self.atoms))


def _size(atom: Atom) -> int:
    match atom:
        case str():
            return size_of(atom)
        case TextContent(text=text):
            return size_of(text)
        case ImageContent():
            return IMAGE
        case AudioContent(data=data):
            return len(data)
        case EmbeddedResource(resource=resource):
            return size_of(resource.text or "") + len(resource.blob or b"") + size_of(resource.uri)
        case ResourceLink(uri=uri, name=name):
            return size_of(uri) + size_of(name)
        case _:
            assert_never(atom)


def fitted(found: Sequence[PromptEntry], budget: int) -> Work[tuple[list[PromptEntry], int]]:
    """Return the entries in at most `budget` bytes, and how many were left out.

    One is always left, with its head and a note if there is no room for more. Each entry is a step
    or two.
    """
    kept = yield from _with_images(found)
    over = sum(entry.size for entry in kept) - budget
    for entry in kept:
        if over <= 0:
            break
        yield
        over += _change(entry, [_shortened(atom, entry.can_shorten) for atom in entry.atoms])
    first = 0
    while over > 0 and first < len(kept) - 1:
        over -= kept[first].size
        first += 1
    if over > 0 and kept:
        _cut(kept[-1], over)
    return kept[first:], first


def _with_images(found: Sequence[PromptEntry]) -> Work[list[PromptEntry]]:
    """Return copies of the entries, with the newest images only and each text in one piece."""
    left = MOST_IMAGES
    copies: list[PromptEntry] = []
    for entry in reversed(found):
        yield
        atoms: list[Atom] = []
        for atom in reversed(entry.atoms):
            if isinstance(atom, ImageContent):
                left -= 1
            atoms.append(_NO_ATTACHMENT if isinstance(atom, ImageContent) and left < 0 else atom)
        copies.append(attrs.evolve(entry, atoms=_joined(atoms[::-1])))
    return copies[::-1]


def _joined(atoms: Sequence[Atom]) -> list[Atom]:
    """Return the atoms with each text in one piece."""
    joined: list[Atom] = []
    for is_text, group in groupby(atoms, lambda atom: isinstance(atom, str)):
        together = list(group)
        joined += ["".join(map(str, together))] if is_text else together
    return joined


def _change(entry: PromptEntry, atoms: Sequence[Atom]) -> int:
    """Give an entry other contents. Return by how much it grew."""
    before = entry.size
    entry.atoms = [*atoms]
    return entry.size - before


def _shortened(atom: Atom, can_shorten: bool) -> Atom:
    if _size(atom) <= _LONG:
        return atom
    match atom:
        case str():
            return shortened(atom, _LEFT_OF_LONG) if can_shorten else atom
        case EmbeddedResource(resource=resource) if resource.text is not None:
            text = shortened(resource.text, _LEFT_OF_LONG)
            return replace(atom, resource=replace(resource, text=text))
        case EmbeddedResource() | AudioContent():
            return _NO_ATTACHMENT
        case _:
            return atom


def _cut(entry: PromptEntry, over: int) -> None:
    """Leave out attachments, and then the middle of the text, until it isn't over any more."""
    stripped = [atom if isinstance(atom, str) else _NO_ATTACHMENT for atom in entry.atoms]
    over += _change(entry, stripped)
    if over > 0:
        entry.atoms = [shortened(entry.text, max(size_of(entry.text) - over - NOTE, 0))]

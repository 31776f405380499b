"""The entries of a record, and how they are made to fit into what an agent has room for.

What is long and the agent can look up again goes first: the middle of calls, results and files, the
oldest first. Then the oldest entries go whole, and of the last one is left what fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import assert_never

import attrs
from msgspec.structs import replace

from bridge.work import Work

from .attachments import Atom
from .content import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent
from .shortening import NOTE, shortened, size_of

MOST_IMAGES = 20
"""Images of a transcript that a new session is sent."""
IMAGE = 4800
"""What an image counts for in bytes: 1600 tokens."""
FRAME = 12
"""The bytes round an entry: its mark, and what stands between it and the next."""
_LONG = 1500
"""Bytes of what is shortened first where there is too much."""
_LEFT_OF_LONG = 1000
_NO_ATTACHMENT = "\n[Here was an attachment.]\n"


@attrs.define
class Entry:
    """One thing said or done: who or what, and what it was."""

    head: str
    atoms: list[Atom]
    can_shorten: bool = False

    @property
    def text(self) -> str:
        """Its text, without what isn't text."""
        return "".join(atom for atom in self.atoms if isinstance(atom, str))

    @property
    def size(self) -> int:
        """How many bytes it takes; an image takes what its tokens would."""
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


def fitted(found: Sequence[Entry], budget: int) -> Work[tuple[list[Entry], int]]:
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


def _with_images(found: Sequence[Entry]) -> Work[list[Entry]]:
    """Return copies of the entries, with the newest images only and each text in one piece."""
    left = MOST_IMAGES
    copies: list[Entry] = []
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


def _change(entry: Entry, atoms: Sequence[Atom]) -> int:
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


def _cut(entry: Entry, over: int) -> None:
    """Leave out attachments, and then the middle of the text, until it isn't over any more."""
    stripped = [atom if isinstance(atom, str) else _NO_ATTACHMENT for atom in entry.atoms]
    over += _change(entry, stripped)
    if over > 0:
        entry.atoms = [shortened(entry.text, max(size_of(entry.text) - over - NOTE, 0))]

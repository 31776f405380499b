"""Rules for the members of an archive: which may be unpacked, and where to. Pure.

An archive comes from somebody else. Its names may lead out of the folder that it is unpacked into:
absolute paths, paths above the folder, and paths through a link. All of these are refused, and the
archive with them. The rules don't depend on the order of the members:

- no part of a path is `..`, and no path is absolute;
- nothing lies beneath a link, and nothing takes a link's place;
- a link goes up first and then down, and never above the folder: so wherever it is followed to,
  through other links, too, it ends inside.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias, assert_never

import attrs

from bridge.value import Value

MOST_MEMBERS = 200_000
"""Files, folders and links of an archive."""
_DRIVE = re.compile(r"\A[A-Za-z]:")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")

MemberPath: TypeAlias = tuple[str, ...]
"""The parts of a path inside the folder."""


class BadArchive(Exception):
    """The archive is refused; the message says why."""


class Member(Value):
    """A member as the archive describes it; `target` is a link's."""

    kind: Literal["file", "folder", "symlink", "hardlink"]
    name: str
    target: str = ""


def path_of(name: str) -> MemberPath:
    """Return the parts of a member's name; raises `BadArchive` where it leads outside."""
    if _CONTROLS.search(name) or "\\" in name or name.startswith("/") or _DRIVE.search(name):
        raise BadArchive(f"it has a member with the name {name[:200]!r}")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    # Windows takes dots and spaces off the end, so that `.. ` is `..` there.
    if not all(part.rstrip(". ") for part in parts):
        raise BadArchive(f"it has a member that leads outside: {name[:200]!r}")
    return parts


@attrs.define
class Layout:
    """The members that were placed; each is checked against those before it."""

    _files: set[MemberPath] = attrs.field(factory=set[MemberPath], init=False)
    _folders: set[MemberPath] = attrs.field(factory=set[MemberPath], init=False)
    _links: set[MemberPath] = attrs.field(factory=set[MemberPath], init=False)
    """Folded: on some systems `A` is `a`."""
    _taken: set[MemberPath] = attrs.field(factory=set[MemberPath], init=False)
    """Everything, folded."""
    _count: int = attrs.field(default=0, init=False)

    def place(self, member: Member) -> MemberPath:
        """Return where a member goes, `()` for the folder itself; raises `BadArchive`."""
        self._count += 1
        if self._count > MOST_MEMBERS:
            raise BadArchive(f"it has more than {MOST_MEMBERS:,} members")
        path = path_of(member.name)
        if not path and member.kind != "folder":
            raise BadArchive(f"it has a member with the name {member.name!r}")
        for length in range(1, len(path)):
            self._claim_folder(path[:length])
        match member.kind:
            case "folder":
                if path:
                    self._claim_folder(path)
            case "file":
                self._claim(path)
                self._files.add(path)
            case "hardlink":
                target = path_of(member.target)
                if target not in self._files:
                    raise BadArchive(f"{member.name!r} is a link to no file of the archive")
                self._claim(path)
                self._files.add(path)
            case "symlink":
                _check_link(path, member)
                if _folded(path) in self._taken:
                    raise _twice(path)
                self._claim(path)
                self._links.add(_folded(path))
            case _:
                assert_never(member.kind)
        return path

    def _claim_folder(self, path: MemberPath) -> None:
        if path in self._files or _folded(path) in self._links:
            raise _twice(path)
        self._folders.add(path)
        self._taken.add(_folded(path))

    def _claim(self, path: MemberPath) -> None:
        if path in self._files or path in self._folders or _folded(path) in self._links:
            raise _twice(path)
        self._taken.add(_folded(path))


def _check_link(path: MemberPath, member: Member) -> None:
    target = member.target
    outside = BadArchive(f"{member.name!r} is a link that leads outside: {target[:200]!r}")
    if not target or _CONTROLS.search(target) or "\\" in target or _DRIVE.search(target):
        raise outside
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = 0
    while up < len(parts) and parts[up] == "..":
        up += 1
    if target.startswith("/") or up > len(path) - 1 or ".." in parts[up:]:
        raise outside


def _folded(path: MemberPath) -> MemberPath:
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in path)


def _twice(path: MemberPath) -> BadArchive:
    return BadArchive(f"it has {'/'.join(path)!r} twice, as different things")

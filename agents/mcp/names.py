"""Names that every agent and every model takes, for tools whose own names may be anything. Pure.

Agents put the server's name before a tool's; `mcp__<server>__<tool>` is the longest form. Models
take at most 64 characters of `a-zA-Z0-9_-` for the whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping

import attrs

MOST_CHARACTERS = 64
SERVER_PREFIX = "vsc"
_DIGITS = 6
"""Of the hash that ends a name which was changed."""
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def server_name(suffix: str) -> str:
    """Return the name of a session's server; a `suffix` of letters and digits makes it unique."""
    if not (suffix.isascii() and suffix.isalnum() and suffix == suffix.lower()):
        raise ValueError("a server's suffix is of lower-case letters and digits")
    return SERVER_PREFIX + suffix


@attrs.define(eq=False, repr=False)
class ServerNames:
    """The names of one agent's servers, each of one session; `draw` returns another suffix."""

    draw: Callable[[], str]
    _taken: set[str] = attrs.field(factory=set[str], init=False)

    def take(self, wanted: str = "") -> str:
        """Return a name that no other server has: the one that is wanted, if it can be."""
        while not wanted or wanted in self._taken:
            wanted = server_name(self.draw())
        self._taken.add(wanted)
        return wanted

    def suggest(self) -> str:
        """Return a name that no server has, for one that may come."""
        name = self.take()
        self.give_up(name)
        return name

    def give_up(self, name: str) -> None:
        """Let another server have a name."""
        self._taken.discard(name)


def aliases(names: Iterable[str], server: str) -> Mapping[str, str]:
    """Return each name's alias, one that no other has.

    A name that can stay as it is stays. The others end in a hash of the name, so that they are the
    same whatever is offered beside them.
    """
    room = MOST_CHARACTERS - len(f"mcp__{server}__")
    distinct = dict.fromkeys(names)
    found = {name: name for name in distinct if _fits(name, room)}
    taken = set(found)
    for name in distinct:
        if name not in found:
            found[name] = _changed(name, room, taken)
            taken.add(found[name])
    return found


def _fits(name: str, room: int) -> bool:
    return 0 < len(name) <= room and not _ILLEGAL.search(name)


def _changed(name: str, room: int, taken: set[str]) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    stem = _ILLEGAL.sub("_", name)
    ending = next(
        digest[:digits]
        for digits in range(_DIGITS, room)
        if f"{stem[: room - digits - 1]}_{digest[:digits]}" not in taken
    )
    return f"{stem[: room - len(ending) - 1]}_{ending}"

"""Names that every agent and every model takes, for tools whose own names may be anything. Pure.

Agents put the server's name before a tool's; `mcp__<server>__<tool>` is the longest form. Models
take at most 64 characters of `a-zA-Z0-9_-` for the whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

MOST_CHARACTERS = 64
SERVER_PREFIX = "vsc"
_DIGITS = 6
"""Of the hash that ends a name which was changed."""
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
SUFFIX_BYTES = 3
"""Of the suffix that is drawn for a server, which has two digits for each."""
_SERVER = re.compile(rf"{SERVER_PREFIX}[0-9a-f]{{{2 * SUFFIX_BYTES}}}")


def server_name(suffix: str) -> str:
    """Return the name of a session's server; a `suffix` of letters and digits makes it unique."""
    if not (suffix.isascii() and suffix.isalnum() and suffix == suffix.lower()):
        raise ValueError("a server's suffix is of lower-case letters and digits")
    return SERVER_PREFIX + suffix


def is_server_name(name: str) -> bool:
    """Return whether a session's server could have this name."""
    return _SERVER.fullmatch(name) is not None


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

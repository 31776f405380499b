"""Ids of tool calls: `gw-` before the server's own toward the editor, and without it back.

An id is unique in the whole process, also where a server repeats its own or gives none. A suffix
makes it unique. Servers' ids hardly end in such a suffix, so it can be removed without remembering
it.
"""

from __future__ import annotations

import re

PREFIX = "gw-"
MAX_REMEMBERED = 10_000
"""Ids of calls that are remembered, so that none is given twice."""

_SUFFIX = re.compile(r"~[1-9][0-9]*\Z")


class CallIds:
    """Gives the ids; one for the process.

    It remembers the ids that were given without a suffix, up to a number of them. From then on
    every id gets a suffix, as one that isn't remembered may have been given.
    """

    def __init__(self, max_remembered: int = MAX_REMEMBERED) -> None:
        self._max = max_remembered
        self._given: set[str] = set()
        self._count = 0

    def outward(self, server_call_id: str) -> str:
        """Return an id that no call had before: the prefix, the server's, a suffix if needed."""
        is_clear = bool(server_call_id) and not _SUFFIX.search(server_call_id)
        if is_clear and server_call_id not in self._given and len(self._given) < self._max:
            self._given.add(server_call_id)
            return PREFIX + server_call_id
        self._count += 1
        return f"{PREFIX}{server_call_id}~{self._count}"


def inward(call_id: str) -> str:
    """Return the server's id for one of our call ids, and any other id unchanged.

    A call without a server's id keeps the rest of ours: the answer needs an id.
    """
    if not call_id.startswith(PREFIX):
        return call_id
    own = call_id[len(PREFIX) :]
    return _SUFFIX.sub("", own) or own

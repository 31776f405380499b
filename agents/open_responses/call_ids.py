"""Ids of tool calls: `gw-` before the server's own toward the editor, and without it back.

An id is unique in the whole process, also where a server repeats its own or gives none.
"""

from __future__ import annotations

PREFIX = "gw-"


class CallIds:
    """Gives the ids; one for the process."""

    def outward(self, server_call_id: str) -> str:
        """Return an id that no call had before: the prefix, the server's, a suffix if needed."""
        raise NotImplementedError


def inward(call_id: str) -> str:
    """Return the server's id of a call of ours, and any other id as it is."""
    raise NotImplementedError

"""What a session's earlier turns told: one object for all turns of a session."""

from __future__ import annotations

import attrs

from .markdown import one_line
from .methods import is_extension

_MOST_CALLS = 1000
"""Calls that have ended and are remembered."""
_MOST_KINDS = 100
"""Kinds of notes that are remembered."""


@attrs.define
class Told:
    """`mode` is the one that the session is in, as far as that is known."""

    mode: str = ""
    _ended: dict[str, None] = attrs.field(factory=dict[str, None], init=False)
    _kinds: set[str] = attrs.field(factory=set[str], init=False)
    _notes: list[str] = attrs.field(factory=list[str], init=False)

    def has_ended(self, call_id: str) -> bool:
        """Whether the user was told how this call ended."""
        return call_id in self._ended

    def end(self, call_id: str) -> None:
        """Remember a call that ended, and forget the oldest of too many."""
        self._ended[call_id] = None
        if len(self._ended) > _MOST_CALLS:
            self.begin(next(iter(self._ended)))

    def begin(self, call_id: str) -> None:
        """Forget a call: some agents count from 1 in each turn."""
        self._ended.pop(call_id, None)

    def note_unknown(self, what: str, kind: str) -> None:
        """Note a kind that we don't know, once in a session. One of an extension is nothing odd."""
        if is_extension(kind):
            return
        note = f"the agent sent {what} of an unknown kind, which isn't shown: {one_line(kind, 60)}"
        if note not in self._kinds and len(self._kinds) < _MOST_KINDS:
            self._kinds.add(note)
            self._notes.append(note)

    def take_notes(self) -> list[str]:
        """Return what there is to log, once."""
        notes, self._notes = self._notes, []
        return notes

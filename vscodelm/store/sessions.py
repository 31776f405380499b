"""The table of sessions that no chat uses now, and what each of them knows.

The beginning of a turn deletes the session's row, and so does a search that finds it. So each row
that exists is true. `written` are the sessions whose row this process may have written. If such a
row is gone when a turn begins, another process took the session. A session belongs to one chat of
this process until that chat releases it (`held`): both chats would have the same name for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import attrs

from actors.memory import Known
from agents.acp.handles import SessionHandle
from bridge.history.message import Message
from bridge.routing.sketch import Sketch, keys, recognise
from bridge.value import Value

from .database import Database

NOBODY = b""
MOST_CANDIDATES = 64
MOST_LOST = 1_000
"""Sessions that are remembered because another process took them from us."""


class _Unwanted(Exception):
    """The caller has stopped waiting for the session."""


class SessionName(Value):
    """A session as its agent knows it, and whose it is."""

    scope: bytes
    handle: str


class SessionRow(Value):
    """A row that may be the one."""

    number: int
    name: SessionName
    sketch: Sketch
    marker: bytes | None
    steps: int

    def rank(self, marker: bytes | None) -> tuple[bool, int, int]:
        """Return the order of preference: a mark that came back, how much it knows, how new."""
        return marker is not None and self.marker == marker, self.steps, self.number


@attrs.define(eq=False, repr=False)
class Sessions:
    """The table, as the process `holder` uses it."""

    holder: bytes
    written: set[SessionName] = attrs.field(factory=set[SessionName], init=False)
    held: set[SessionName] = attrs.field(factory=set[SessionName], init=False)
    taken: dict[SessionName, SessionRow] = attrs.field(
        factory=dict[SessionName, SessionRow], init=False
    )
    """A found session that has received nothing yet. Releasing it puts its row back."""
    lost: dict[SessionName, None] = attrs.field(factory=dict[SessionName, None], init=False)
    """Of `written`, those that we released when another process had taken them."""

    def settle(
        self,
        database: Database,
        name: SessionName,
        sketch: Sketch,
        marker: str | None,
        now: float,
        *,
        was_written: bool,
    ) -> None:
        """Write what a session knows now, in a transaction of the caller's.

        `was_written` if no turn began in it since it was settled last. Then another process may
        have taken it, and our knowledge of it is out of date.
        """
        self.held.add(name)
        if self._remove(database, name, is_ours=was_written) or not was_written:
            self._insert(database, name, sketch, marker_digest(marker), self.holder, now)

    def release(self, database: Database, name: SessionName, now: float) -> bool:
        """Offer a session to other processes, in the caller's transaction; then call `let_go`.

        Return whether it was ours still.
        """
        untouched = self.taken.get(name)
        if untouched is not None:
            self._insert(database, name, untouched.sketch, untouched.marker, NOBODY, now)
        changed = database.change(
            "UPDATE session SET holder = ? WHERE scope = ? AND handle = ? AND holder = ?",
            *(NOBODY, name.scope, name.handle, self.holder),
        )
        return bool(changed)

    def let_go(self, name: SessionName, *, was_ours: bool) -> None:
        """Remember a session no longer, which is released; `was_ours` as `release` says.

        One that another process took meanwhile mustn't be begun by us, so it is remembered for a
        while longer.
        """
        self.held.discard(name)
        self.taken.pop(name, None)
        if was_ours:
            self.written.discard(name)
        elif name in self.written:
            self.lost[name] = None
            if len(self.lost) > MOST_LOST:
                oldest = next(iter(self.lost))
                del self.lost[oldest]
                self.written.discard(oldest)

    def begin(self, database: Database, name: SessionName) -> bool:
        """Delete a session's row; return whether the session is ours.

        A session that the user continued in another chat has another handle there. If it is ours,
        the rows of its other handles are deleted, as if another process had taken them.
        """
        is_written, others = name in self.written, self._others(database, name)
        if not is_written and not others and not self._is_there(database, name):
            return True
        with database.transaction(durable=True):
            removed = self._remove(database, name, is_ours=is_written)
            is_ours = removed or not is_written
            for other in others if is_ours else ():
                self._remove(database, other, is_ours=False)
                self.taken.pop(other, None)
        if removed:
            self.written.discard(name)
        return is_ours

    def has(self, database: Database, name: SessionName) -> bool:
        """Return whether a session that is at rest is still ours; one without a row is."""
        query = "SELECT 1 FROM session WHERE scope = ? AND handle = ? AND holder = ?"
        row = (name.scope, name.handle, self.holder)
        return name not in self.written or bool(database.rows(query, *row))

    def find(
        self,
        database: Database,
        scope: bytes,
        path: Sequence[Message],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Known | None:
        """Take the best session that knows a beginning of `path`, and delete its row.

        Nothing is taken where it isn't wanted any more: a disk may be slow.
        """
        marker = marker_digest(
            next((one.marker for one in reversed(path) if one.marker is not None), None)
        )
        found = self._candidates(database, scope, path)
        for best in sorted(found, key=lambda one: one.rank(marker), reverse=True):
            # By the number: a session that was settled anew meanwhile has another one.
            try:
                with database.transaction(durable=True):
                    is_ours = database.change("DELETE FROM session WHERE number = ?", best.number)
                    if not is_wanted():
                        raise _Unwanted
            except _Unwanted:
                return None
            if is_ours:
                self.written.discard(best.name)
                self.lost.pop(best.name, None)
                self.taken[best.name] = best
                return Known(best.name.handle, best.steps)
        return None

    def _candidates(
        self, database: Database, scope: bytes, path: Sequence[Message]
    ) -> list[SessionRow]:
        found: list[SessionRow] = []
        left = MOST_CANDIDATES
        for key in keys(path):
            rows = database.rows(
                "SELECT number, handle, steps, marker FROM session "
                "WHERE scope = ? AND lookup = ? AND holder <> ? ORDER BY number DESC LIMIT ?",
                *(scope, key, self.holder, left),
            )
            for number, handle, steps, marker in rows:
                # A file may be damaged in ways that SQLite doesn't see.
                is_sound = isinstance(steps, bytes) and isinstance(handle, str)
                known = recognise(steps, path) if is_sound else None
                name = SessionName(scope, handle)
                if known and name not in self.held:
                    found.append(SessionRow(number, name, Sketch(key, steps), marker, known))
            left -= len(rows)
            if not left:
                break
        return found

    def _insert(
        self,
        database: Database,
        name: SessionName,
        sketch: Sketch,
        marker: bytes | None,
        holder: bytes,
        now: float,
    ) -> None:
        database.change(
            "INSERT OR IGNORE INTO session (scope, handle, lookup, steps, marker, holder, "
            "settled_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(name.scope, name.handle, sketch.key, sketch.steps, marker, holder, int(now)),
        )

    def _remove(self, database: Database, name: SessionName, *, is_ours: bool) -> bool:
        """Delete a row: ours, which another process may have taken; or that of an older session.

        (Some agents give the same name again.)
        """
        statement = "DELETE FROM session WHERE scope = ? AND handle = ?"
        if is_ours:
            return bool(
                database.change(f"{statement} AND holder = ?", name.scope, name.handle, self.holder)
            )
        return bool(database.change(statement, name.scope, name.handle))

    def _others(self, database: Database, name: SessionName) -> list[SessionName]:
        """Return the other names of a session that a row may be put down for."""
        ours = SessionHandle.read(name.handle)
        query = "SELECT handle FROM session WHERE scope = ? AND handle BETWEEN ? AND ?"
        # All that is the id itself, or begins with the id and "#".
        rows = database.rows(query, name.scope, ours.session_id, f"{ours.session_id}$")
        taken = (one.handle for one in list(self.taken) if one.scope == name.scope)
        return [
            SessionName(name.scope, handle)
            for handle in dict.fromkeys((*(handle for (handle,) in rows), *taken))
            if ours.is_another_of(SessionHandle.read(handle))
        ]

    def _is_there(self, database: Database, name: SessionName) -> bool:
        query = "SELECT 1 FROM session WHERE scope = ? AND handle = ?"
        return bool(database.rows(query, name.scope, name.handle))


def marker_digest(marker: str | None) -> bytes | None:
    """Return what is kept of our own mark."""
    return None if marker is None else hashlib.blake2b(marker.encode(), digest_size=16).digest()

"""The tables of the file: digests and agents' ids, but no text of a chat and no definition.

A handle may have the folder of its session, too (`agents.acp.handles`).

A row of `session` says what an agent's session knows, and that no chat uses it. A chat that takes a
session deletes its row first (decision 0018). `number` grows with every row and is never reused. So
a row with a number that was seen before is still the same row, and the larger number is newer,
whatever the clock says.
"""

from __future__ import annotations

APPLICATION_ID = 0x76736C6D
"""In the file's header: that it is ours."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE session (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            scope BLOB NOT NULL,       -- a digest: whose session it is, and where it works
            handle TEXT NOT NULL,      -- the agent's own id of it
            lookup BLOB NOT NULL,      -- bridge.routing.sketch: what it is looked up by
            steps BLOB NOT NULL,       -- bridge.routing.sketch: what it knows
            marker BLOB,               -- the digest of our mark in its newest answer
            holder BLOB NOT NULL,      -- the process that has it open; empty if none does
            settled_at INTEGER NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX session_by_handle ON session (scope, handle)",
        "CREATE INDEX session_by_lookup ON session (scope, lookup)",
        "CREATE INDEX session_by_age ON session (settled_at)",
        """
        CREATE TABLE point (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            scope BLOB NOT NULL,       -- a digest: of the endpoint's definition
            digest BLOB NOT NULL,      -- of all that was said up to there
            response_id TEXT NOT NULL,
            setup BLOB NOT NULL,       -- a digest: of the model, the instructions, the tools
            calls BLOB NOT NULL,       -- JSON: the server's ids of open calls, by the editor's
            settled_at INTEGER NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX point_by_digest ON point (scope, digest)",
        "CREATE INDEX point_by_age ON point (settled_at)",
    ),
)
"""The statements that make each version of the schema out of the one before."""

VERSION = len(MIGRATIONS)
TABLES = ("session", "point")

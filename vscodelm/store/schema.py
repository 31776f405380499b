"""What is in the file: no text of any chat and no agent's definition, but digests and agents' ids.

A row of `session` says what a session of an agent's knows, and that nobody uses it: who goes on in
a session deletes its row first, as decision 0018 tells. `number` grows with every row and never
comes back, so a row that was seen and is still there by its number is the same; and it tells which
is newer, whatever the clock does.
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
            lookup BLOB NOT NULL,      -- bridge.sketch: what it is looked up by
            steps BLOB NOT NULL,       -- bridge.sketch: what it knows
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
"""What makes each version of the schema out of the one before; the first out of nothing."""

VERSION = len(MIGRATIONS)
TABLES = ("session", "point")

"""The table of points: responses that endpoints keep, by what was said up to them."""

from __future__ import annotations

import msgspec

from agents.open_responses.checkpoints import Point

from .database import Database, Row

_decode_calls = msgspec.json.Decoder(dict[str, str]).decode


def keep(database: Database, scope: bytes, digest: bytes, point: Point, now: float) -> None:
    """Write a point, in a transaction of the caller's."""
    database.change(
        "INSERT OR REPLACE INTO point (scope, digest, response_id, setup, calls, settled_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        *(scope, digest, point.response_id, point.setup),
        *(msgspec.json.encode(point.server_ids), int(now)),
    )


def forget(database: Database, scope: bytes, digest: bytes) -> None:
    """Delete a point, in a transaction of the caller's."""
    database.change("DELETE FROM point WHERE scope = ? AND digest = ?", scope, digest)


def newest(database: Database, scope: bytes, most: int) -> list[tuple[bytes, Point]]:
    """Return points with the digests of what was said, the newest last."""
    rows = database.rows(
        "SELECT digest, response_id, setup, calls FROM point WHERE scope = ? "
        "ORDER BY number DESC LIMIT ?",
        *(scope, most),
    )
    return [found for row in reversed(rows) if (found := _point(row)) is not None]


def _point(row: Row) -> tuple[bytes, Point] | None:
    """Return what a row says; None if it was damaged in a way that SQLite doesn't see."""
    digest, response_id, setup, calls = row
    kinds = (bytes, str, bytes, bytes)
    if not all(isinstance(one, kind) for one, kind in zip(row, kinds, strict=True)):
        return None
    try:
        return digest, Point(response_id, setup, _decode_calls(calls))
    except msgspec.MsgspecError:
        return None

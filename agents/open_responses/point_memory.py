"""What outlives the process: the responses that an endpoint keeps, by what was said up to them.

A response never changes, so any number of processes may go on from the same one. The endpoint may
have forgotten it meanwhile, which costs a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from bridge.value import Value


class Point(Value):
    """A response to go on from, and with what it was asked for: model, instructions, tools."""

    response_id: str
    setup: bytes
    server_ids: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The server's ids of the calls in it, by the editor's, where they don't follow from those."""


class PointMemory(Protocol):
    """Remembers points by `scope`: the endpoint's definition."""

    async def points(self, scope: bytes, most: int) -> Sequence[tuple[bytes, Point]]:
        """Return the newest points with the digests of what was said, the newest last."""
        ...

    def keep(self, scope: bytes, digest: bytes, point: Point) -> None:
        """Remember a point. Doesn't wait."""
        ...

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        """Forget points. Doesn't wait."""
        ...


class NoPointMemory:
    """Remembers nothing."""

    async def points(self, scope: bytes, most: int) -> Sequence[tuple[bytes, Point]]:
        """Return none."""
        return ()

    def keep(self, scope: bytes, digest: bytes, point: Point) -> None:
        """Forget it at once."""

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        """Do nothing."""

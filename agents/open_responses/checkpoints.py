"""The responses that an endpoint keeps, as all conversations with it know them.

Some are known from earlier processes (`recall`). The server may have lost those since then, which
doesn't mean that it keeps no new ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol

import attrs
import msgspec

from bridge.value import Value


class Point(Value):
    """A response to continue, and its settings: model, instructions, tools."""

    response_id: str
    setup: bytes
    server_ids: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The server's ids of the calls in it, by the editor's, where they don't follow from those."""


class PointMemory(Protocol):
    """Remembers points beyond the process, by `scope`: the endpoint's definition.

    A response never changes, so several processes can continue the same one. If the endpoint has
    forgotten it, that costs one request.
    """

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


MISSES = 2
"""After how many ids in a row that a server didn't know it is taken for stateless."""
MOST_POINTS = 4096
"""Responses of an endpoint that are remembered, to go on from."""


@attrs.define(eq=False, repr=False)
class Points:
    """The responses that an endpoint keeps, by what was said up to them.

    `memory` hears of each, under the endpoint's `scope`.
    """

    most: int = MOST_POINTS
    memory: PointMemory = attrs.field(factory=NoPointMemory)
    scope: bytes = b""
    server_ids: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    """The server's ids of calls, by the editor's, where they don't follow from those."""
    _points: OrderedDict[bytes, Point] = attrs.field(
        factory=lambda: OrderedDict[bytes, Point](), init=False
    )
    _recalled: set[bytes] = attrs.field(factory=set[bytes], init=False)
    """Those of earlier processes."""
    _misses: int = attrs.field(default=0, init=False)
    _recalled_misses: int = attrs.field(default=0, init=False)

    def recall(self, recalled: Sequence[tuple[bytes, Point]]) -> None:
        """Learn what earlier processes knew, the newest last, before anything else is known."""
        self._points = OrderedDict(recalled)
        self._recalled = set(self._points)
        for _, point in recalled:
            self.keep_ids(point.server_ids)

    @property
    def is_stateless(self) -> bool:
        """Whether the server has shown that it keeps nothing."""
        return self._misses >= MISSES

    def at(self, digest: bytes) -> Point | None:
        """Return the response that was the last word there."""
        point = self._points.get(digest)
        if point is not None:
            self._points.move_to_end(digest)
        return point

    def keep(self, digest: bytes, point: Point) -> None:
        """Note a response that can be gone on from."""
        self._points[digest] = point
        self._recalled.discard(digest)
        if not self.is_stateless:
            self.memory.keep(self.scope, digest, point)
        self._keep_the_newest()

    def keep_ids(self, server_ids: Mapping[str, str]) -> None:
        """Note the server's ids of calls, by the editor's, where they don't follow from those."""
        self.server_ids.update(server_ids)
        for call_id in [*islice(self.server_ids, max(0, len(self.server_ids) - self.most))]:
            del self.server_ids[call_id]

    def hit(self) -> None:
        """Note that the server went on from a response."""
        self._misses = self._recalled_misses = 0

    def miss(self, response_id: str) -> None:
        """Forget a response that the server doesn't know.

        If it doesn't know several responses of earlier processes, it has lost them all.
        """
        digests = self._digests_of(response_id)
        if digests and self._recalled.issuperset(digests):
            self._recalled_misses += 1
            if self._recalled_misses >= MISSES:
                digests = [*self._recalled]
        else:
            self._misses += 1
        self._forget(digests)
        if self.is_stateless:
            self._forget([*self._points])

    def _keep_the_newest(self) -> None:
        while len(self._points) > self.most:
            self._recalled.discard(self._points.popitem(last=False)[0])

    def _digests_of(self, response_id: str) -> list[bytes]:
        return [key for key, one in self._points.items() if one.response_id == response_id]

    def _forget(self, digests: Iterable[bytes]) -> None:
        digests = [*digests]
        for digest in digests:
            del self._points[digest]
            self._recalled.discard(digest)
        self.memory.forget(self.scope, digests)

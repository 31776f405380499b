"""What is known of the responses that an endpoint keeps, by all conversations with it.

Some are known from earlier processes (`recall`), and a server may have lost those since then, so
that says nothing about whether it keeps what it says today.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import attrs

from .point_memory import NoPointMemory, Point, PointMemory

MISSES = 2
"""After how many ids in a row that a server didn't know it is taken for stateless."""
MOST_POINTS = 4096
"""Responses of an endpoint that are remembered, to go on from."""


@attrs.define(eq=False)
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

        Where it doesn't know several of earlier processes, it has lost them all.
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

"""The editor's requests that aren't answered yet."""

from __future__ import annotations

import attrs
import trio

from bridge.wire import RequestId


@attrs.define(eq=False, repr=False)
class OpenRequests:
    """The open requests. A task that waits for a rest sleeps through most of them."""

    _ids: set[RequestId] = attrs.field(factory=set["RequestId"], init=False)
    _begun: trio.Event = attrs.field(factory=trio.Event, init=False)
    _ended: trio.Event = attrs.field(factory=trio.Event, init=False)
    _answered: int = attrs.field(default=0, init=False)
    """The number of requests that were answered."""

    def __contains__(self, request: RequestId) -> bool:
        return request in self._ids

    def begin(self, request: RequestId) -> None:
        """Note that a request was made."""
        self._ids.add(request)
        self._begun.set()

    def end(self, request: RequestId) -> None:
        """Note that it is answered."""
        self._ids.discard(request)
        self._answered += 1
        self._ended.set()

    async def begins(self) -> None:
        """Wait until a request is made."""
        self._begun = trio.Event()
        await self._begun.wait()

    async def rest(self, seconds: float) -> None:
        """Wait until none was open for so long, and at most for twice as long."""
        while True:
            if self._ids:
                self._ended = trio.Event()
                await self._ended.wait()
            answered = self._answered
            await trio.sleep(seconds)
            if not self._ids and answered == self._answered:
                return

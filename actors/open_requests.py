"""The editor's requests that aren't answered yet."""

from __future__ import annotations

import attrs
import trio

from bridge.wire import RequestId


@attrs.define(eq=False, repr=False)
class OpenRequests:
    """Which requests are open; who waits for a rest between them is told."""

    _ids: set[RequestId] = attrs.field(factory=set["RequestId"], init=False)
    _changed: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __contains__(self, request: RequestId) -> bool:
        return request in self._ids

    def begin(self, request: RequestId) -> None:
        """Note that a request was made."""
        self._ids.add(request)
        self._change()

    def end(self, request: RequestId) -> None:
        """Note that it is answered."""
        self._ids.discard(request)
        self._change()

    async def change(self) -> None:
        """Wait until a request is made or answered."""
        await self._changed.wait()

    async def rest(self, seconds: float) -> None:
        """Wait until none was open for so long."""
        while True:
            if self._ids:
                await self.change()
                continue
            with trio.move_on_after(seconds):
                await self.change()
                continue
            return

    def _change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

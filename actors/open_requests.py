"""The editor's requests that aren't answered yet."""

from __future__ import annotations

import math

import attrs
import trio

from bridge.wire import RequestId


@attrs.define(eq=False, repr=False)
class OpenRequests:
    """Which requests are open. One task may wait for a rest; it sleeps through all before that."""

    _ids: set[RequestId] = attrs.field(factory=set["RequestId"], init=False)
    _begun: trio.Event = attrs.field(factory=trio.Event, init=False)
    _rest: trio.CancelScope | None = attrs.field(default=None, init=False)
    """Ends the wait for a rest, while there is one."""
    _rest_seconds: float = attrs.field(default=math.inf, init=False)

    def __contains__(self, request: RequestId) -> bool:
        return request in self._ids

    def begin(self, request: RequestId) -> None:
        """Note that a request was made."""
        self._ids.add(request)
        self._begun.set()
        self._reckon()

    def end(self, request: RequestId) -> None:
        """Note that it is answered."""
        self._ids.discard(request)
        self._reckon()

    async def begins(self) -> None:
        """Wait until a request is made."""
        self._begun = trio.Event()
        await self._begun.wait()

    async def rest(self, seconds: float) -> None:
        """Wait until none was open for so long."""
        self._rest_seconds = seconds
        with trio.CancelScope() as self._rest:
            self._reckon()
            await trio.sleep_forever()
        self._rest = None

    def _reckon(self) -> None:
        """Reckon anew when there is a rest, if somebody waits for it."""
        if self._rest is not None:
            rests_at = trio.current_time() + self._rest_seconds
            self._rest.deadline = math.inf if self._ids else rests_at

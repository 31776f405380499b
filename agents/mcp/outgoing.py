"""MCP's messages on their way out, as the SDK wants to write them.

A call that is taken back stops whoever answers it, and that must not leave half a line behind. So
whoever answers never waits in the midst of a line: it is written at once as far as there is room,
which is mostly all of it, and what is left is written by a task of its own.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import attrs
from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared.message import SessionMessage


MOST_UNSENT_BYTES = 16 * 1024 * 1024
"""Bytes that an agent may leave unread; then its connection is ended. The last line may be of any
size."""

log = logging.getLogger("vscodelm.mcp")


class Sink(Protocol):
    """Where lines go."""

    def write_now(self, data: bytes) -> int:
        """Write what there is room for, and return how much that was."""
        ...

    async def send(self, data: bytes) -> bool:
        """Write all of it; return whether there is still somebody who may read it."""
        ...


@attrs.define(eq=False)
class Outgoing:
    """Messages, each a line; `run` must run meanwhile."""

    _sink: Sink
    _waiting: deque[bytes] = attrs.field(factory=deque["bytes"], init=False)
    """Lines, the first maybe only the rest of one."""
    _size: int = attrs.field(default=0, init=False)
    """Bytes that wait."""
    _until: anyio.CancelScope | None = attrs.field(default=None, init=False)
    """What ends the connection, while it runs."""
    _news: anyio.Event = attrs.field(factory=anyio.Event, init=False)
    _drained: anyio.Event = attrs.field(factory=anyio.Event, init=False)
    """Set when nothing waits any more."""
    _is_closed: bool = attrs.field(default=False, init=False)

    async def send(self, message: SessionMessage) -> None:
        """Write a message, or leave it to `run` and wait; raises `anyio.ClosedResourceError`."""
        if self._is_closed:
            raise anyio.ClosedResourceError
        text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        line = text.encode() + b"\n"
        if not self._waiting:
            line = line[self._sink.write_now(line) :]
        if not line:
            await checkpoint()
            return
        if self._size >= MOST_UNSENT_BYTES:
            self._give_up()
            raise anyio.ClosedResourceError
        self._waiting.append(line)
        self._size += len(line)
        self._news.set()
        await self._drained.wait()

    def _give_up(self) -> None:
        """End the connection of an agent that asks and doesn't read."""
        log.warning("an agent's connection is ended: it doesn't read the answers to its requests")
        self._is_closed = True
        if self._until is not None:
            self._until.cancel()

    async def run(self, until: anyio.CancelScope) -> None:
        """Write what is left, until nothing more can come or nobody reads; then cancel `until`."""
        is_read, self._until = True, until
        try:
            while is_read and (self._waiting or not self._is_closed):
                while self._waiting and (is_read := await self._sink.send(self._waiting[0])):
                    self._size -= len(self._waiting.popleft())
                self._drained.set()
                if is_read and not self._is_closed:
                    self._news, self._drained = anyio.Event(), anyio.Event()
                    await self._news.wait()
        finally:  # stopped, too: nothing is written from here on, so nobody may wait for it
            self._is_closed = True
            self._drained.set()
        until.cancel()

    async def aclose(self) -> None:
        """Take no more; what waits is written, if `run` isn't stopped."""
        self._is_closed = True
        self._news.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

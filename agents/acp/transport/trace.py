"""A tap on an agent's streams: whole lines, as they come and go."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import attrs
import trio

from agents.trace import Tap
from bridge.jsonrpc import LineSplitter, TooLong

from .base import Exit, Link


@attrs.define(eq=False, repr=False)
class TappedLink:
    """A link whose lines are heard; it satisfies `agents.acp.transport.base.Link`."""

    source: trio.abc.ReceiveStream
    sink: trio.abc.SendStream
    _link: Link

    @classmethod
    def of(cls, link: Link, tap: Tap) -> TappedLink:
        """Return the link with a tap on its streams."""
        return cls(_Source(link.source, tap), _Sink(link.sink, tap), link)

    @property
    def pid(self) -> int | None:
        """The agent's process."""
        return self._link.pid

    async def ended(self) -> None:
        """Wait until the agent has ended."""
        await self._link.ended()

    async def exit(self) -> Exit:
        """Return how the agent ended."""
        return await self._link.exit()


@asynccontextmanager
async def tapped(connecting: AbstractAsyncContextManager[Link], tap: Tap) -> AsyncGenerator[Link]:
    """Start an agent with a tap on its streams."""
    async with connecting as link:
        yield TappedLink.of(link, tap)


class _Source(trio.abc.ReceiveStream):
    def __init__(self, source: trio.abc.ReceiveStream, tap: Tap) -> None:
        self._source = source
        self._tap = tap
        self._splitter = LineSplitter()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        chunk = await self._source.receive_some(max_bytes)
        splitter = self._splitter
        self._keep(splitter.feed(bytes(chunk)) if chunk else splitter.finish())
        return chunk

    async def aclose(self) -> None:
        await self._source.aclose()

    def _keep(self, lines: Sequence[bytes | TooLong]) -> None:
        for line in lines:
            if isinstance(line, bytes):
                self._tap("in", line)


class _Sink(trio.abc.SendStream):
    def __init__(self, sink: trio.abc.SendStream, tap: Tap) -> None:
        self._sink = sink
        self._tap = tap

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._tap("out", bytes(data))  # whole lines are sent, never a part of one
        await self._sink.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._sink.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._sink.aclose()

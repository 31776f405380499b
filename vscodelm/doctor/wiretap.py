"""An agent's wire, written to a trace: `in` is what the agent says, `out` what it is told."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import trio

from actors.trace import Trace
from agents.acp.link import Exit, Link
from bridge.jsonrpc import LineSplitter, TooLong


@attrs.define(eq=False)
class TappedLink:
    """A link whose lines are traced; it satisfies `agents.acp.link.Link`."""

    source: trio.abc.ReceiveStream
    sink: trio.abc.SendStream
    _link: Link

    @classmethod
    def of(cls, link: Link, trace: Trace) -> TappedLink:
        """Return the link with an ear at it."""
        return cls(_Source(link.source, trace), _Sink(link.sink, trace), link)

    async def ended(self) -> None:
        """Wait until the agent has ended."""
        await self._link.ended()

    async def exit(self) -> Exit:
        """Return how the agent ended."""
        return await self._link.exit()


class _Source(trio.abc.ReceiveStream):
    def __init__(self, source: trio.abc.ReceiveStream, trace: Trace) -> None:
        self._source = source
        self._trace = trace
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
                self._trace.line("in", line)


class _Sink(trio.abc.SendStream):
    def __init__(self, sink: trio.abc.SendStream, trace: Trace) -> None:
        self._sink = sink
        self._trace = trace

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._trace.lines("out", bytes(data))  # whole lines are sent, never a part of one
        await self._sink.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._sink.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._sink.aclose()

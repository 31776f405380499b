"""Lines over a byte stream, as MCP on stdio has them; a broken stream counts as its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import attrs
import trio

from bridge.jsonrpc import LineSplitter, TooLong
from bridge.stdio import PipeSink

CHUNK = 262_144
MOST_LINE_BYTES = 4 * 1024 * 1024
"""Bytes of a line. The arguments of a call may hold a whole file."""


@attrs.define(eq=False, repr=False)
class LineWire:
    """A connection of lines; it satisfies `agents.mcp.server.LineStream`."""

    _stream: trio.abc.Stream
    _splitter: LineSplitter = attrs.field(factory=lambda: LineSplitter(MOST_LINE_BYTES), init=False)

    async def receive(self) -> Sequence[bytes | TooLong] | None:
        """Return the next lines, maybe none yet; None at the end."""
        try:
            chunk = await self._stream.receive_some(CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return None
        return self._splitter.feed(bytes(chunk)) if chunk else None

    def write_now(self, data: bytes) -> int:
        """Write what there is room for, where that can be told; return how much that was."""
        pipe = _pipe(self._stream)
        try:
            return pipe.write_now(data) if pipe is not None else 0
        except trio.BrokenResourceError:
            return 0  # which `send` finds out, too

    async def send(self, data: bytes) -> bool:
        """Write all the data; return whether a reader may still be there."""
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        return True


def _pipe(stream: trio.abc.Stream) -> PipeSink | None:
    if not isinstance(stream, trio.StapledStream):
        return None
    stapled = cast("trio.StapledStream[trio.abc.SendStream, trio.abc.ReceiveStream]", stream)
    return stapled.send_stream if isinstance(stapled.send_stream, PipeSink) else None

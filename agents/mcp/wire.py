"""Lines over a byte stream; what breaks is an end like any other. MCP on stdio is such lines."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import trio

from bridge.jsonrpc import LineSplitter, TooLong

CHUNK = 262_144


@attrs.define(eq=False)
class LineWire:
    """A connection of lines; it satisfies `agents.mcp.server.Wire`."""

    _stream: trio.abc.Stream
    _splitter: LineSplitter = attrs.field(factory=LineSplitter, init=False)

    async def receive(self) -> Sequence[bytes | TooLong] | None:
        """Return the next lines, maybe none yet; None at the end."""
        try:
            chunk = await self._stream.receive_some(CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return None
        return self._splitter.feed(bytes(chunk)) if chunk else None

    async def send(self, line: bytes) -> bool:
        """Send a line; return whether there is still somebody who may read it."""
        try:
            await self._stream.send_all(line + b"\n")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        return True

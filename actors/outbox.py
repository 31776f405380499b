"""Send lines to the editor in order, as many as are ready in one write.

Putting a line never waits, so the History Actor can't be held up by an editor that doesn't read. A
producer of lines waits for `room` first, so that backpressure reaches the agents.
"""

from __future__ import annotations

import trio

from bridge.stdio import PipeSink

HIGH_WATER = 64 * 1024
"""Unsent bytes at which producers wait: about what a pipe holds."""


class Outbox:
    """Lines that wait to be written."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self._closed = False
        self._wake = trio.Event()
        self._drained = trio.Event()
        self._pipe: PipeSink | None = None
        """Writes lines without waiting, while no other write is running."""

    def put(self, lines: bytes) -> None:
        """Add one line or several, each with its line end."""
        if not self._closed:
            self._lines.append(lines)
            self._size += len(lines)
            self._wake.set()

    def flush(self) -> None:
        """Write what waits now, as far as there is room, instead of when the writer has its turn.

        For the last line of an answer: whoever gets it does nothing before, and we have time after.
        """
        if self._pipe is None or not self._lines:
            return
        data = b"".join(self._lines)
        try:
            written = self._pipe.write_now(data)
        except trio.BrokenResourceError:
            return  # the writer finds it so, too
        self._size -= written
        self._lines = [data[written:]] if written < len(data) else []
        self._drained.set()

    async def room(self, high_water: int = HIGH_WATER) -> None:
        """Wait until less than `high_water` bytes are unsent."""
        while self._size >= high_water:
            self._drained = trio.Event() if self._drained.is_set() else self._drained
            await self._drained.wait()

    def close(self) -> None:
        """Let the writer end when it has written what is here; what comes later is dropped."""
        self._closed = True
        self._wake.set()

    async def run(self, stream: trio.abc.SendStream) -> None:
        """Write until closed. A broken stream counts as closed: nobody reads any more."""
        try:
            while True:
                lines, self._lines = self._lines, []
                if lines:
                    data = b"".join(lines)
                    self._pipe = None
                    await stream.send_all(data)
                    self._size -= len(data)
                    self._drained.set()
                elif self._closed:
                    return
                else:
                    self._wake = trio.Event()
                    self._pipe = stream if isinstance(stream, PipeSink) else None
                    await self._wake.wait()
        except trio.BrokenResourceError:
            self.close()
        finally:
            self._size = 0
            self._drained.set()

"""What we say to an agent: kept at once, and written in one go when the agent has room for it."""

from __future__ import annotations

import trio


class Speaker:
    """Lines on their way to an agent. Saying one never waits."""

    def __init__(self, sink: trio.abc.SendStream) -> None:
        self._sink = sink
        self._unsent: list[bytes] = []
        self._news = trio.Event()
        self.size = 0
        """Bytes that the agent hasn't read yet."""

    def say(self, line: bytes) -> None:
        """Add a line to those that are to be written."""
        self._unsent.append(line)
        self.size += len(line)
        self._news.set()

    async def run(self) -> None:
        """Write until nobody hears it any more."""
        try:
            while True:
                if self._unsent:
                    unsent, self._unsent = self._unsent, []
                    lines = b"".join(unsent)
                    await self._sink.send_all(lines)
                    self.size -= len(lines)
                else:
                    self._news = trio.Event()
                    await self._news.wait()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

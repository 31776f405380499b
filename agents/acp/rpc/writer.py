"""Buffer outgoing lines, and write them together when the agent can read them."""

from __future__ import annotations

import trio


class Speaker:
    """Lines on their way to an agent. Adding one never waits."""

    def __init__(self, sink: trio.abc.SendStream) -> None:
        self._sink = sink
        self._unsent: list[bytes] = []
        self._news = trio.Event()
        self.unread_answers = 0
        """Bytes of answers that the agent hasn't read yet."""

    def say(self, line: bytes, *, is_answer: bool = False) -> None:
        """Add a line to the buffer; some lines answer a request of the agent."""
        self._unsent.append(line)
        if is_answer:
            self.unread_answers += len(line)
        self._news.set()

    async def run(self) -> None:
        """Write until the agent's input is closed."""
        try:
            while True:
                if self._unsent:
                    unsent, self._unsent = self._unsent, []
                    answers = self.unread_answers  # all of them are in these lines
                    await self._sink.send_all(b"".join(unsent))
                    self.unread_answers -= answers
                else:
                    self._news = trio.Event()
                    await self._news.wait()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

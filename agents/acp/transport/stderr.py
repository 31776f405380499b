"""The last words of a process: what it wrote to stderr, bounded, and fit to be shown. Pure.

An agent may write megabytes there, in colours; only the end of it can explain why it ended.
"""

from __future__ import annotations

from agents.acp.text.markdown import clean

KEPT_BYTES = 64 * 1024
"""Bytes of an agent's stderr that are kept; older ones are dropped."""
SHOWN_LINES = 20
SHOWN_CHARACTERS = 4_000
"""Characters of it that go into an error."""


class Tail:
    """Keeps the end of a stream of bytes."""

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._bytes = bytearray()

    def feed(self, chunk: bytes | bytearray) -> None:
        """Take more in."""
        self._bytes += chunk[-self._kept :]
        if len(self._bytes) > 2 * self._kept:  # now and then, so that it costs nothing a chunk
            del self._bytes[: -self._kept]

    def text(self, lines: int = SHOWN_LINES, characters: int = SHOWN_CHARACTERS) -> str:
        """Return the last lines, without control characters and blank lines."""
        text = bytes(self._bytes[-self._kept :]).decode(errors="replace")
        kept = [line.rstrip() for line in clean(text.replace("\r", "\n")).split("\n")]
        return "\n".join([line for line in kept if line][-lines:])[-characters:]

"""Splits a body of server-sent events; bytes in, bytes out, in linear time."""

from __future__ import annotations

from typing import TypeAlias

Frame: TypeAlias = tuple[bytes, bytes]
"""The name of an event, often empty, and its data: the lines joined."""

MAX_EVENT_BYTES = 64 * 1024 * 1024


class SseOverflow(Exception):
    """An event is longer than we take; the stream can't be read any further."""


class SseSplitter:
    """Takes the chunks of one body, however they are cut."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the events that are complete; raises `SseOverflow`."""
        raise NotImplementedError

    def finish(self) -> list[Frame]:
        """Return what was left at the end of the body, if that is an event."""
        raise NotImplementedError

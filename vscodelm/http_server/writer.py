"""The interface of both ways of writing an answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.wire import Part

from .api_error import ApiError


class AnswerWriter(Protocol):
    """Writes the parts of one answer as a client reads them; the calls are made in this order.

    Each call returns bytes of an event stream. At the end `result` is the whole as JSON.
    """

    def begin(self) -> bytes:
        """Begin."""
        ...

    def add(self, parts: Sequence[Part]) -> bytes:
        """Add parts."""
        ...

    def end(
        self, now: int, failure: ApiError | None = None, *, is_cancelled: bool = False
    ) -> bytes:
        """End; `now` is in seconds since 1970."""
        ...

    @property
    def keepalive(self) -> bytes:
        """A sign of life for a stream that is silent."""
        ...

    @property
    def result(self) -> bytes:
        """The whole answer."""
        ...

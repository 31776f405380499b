"""Events that come twice, one right after the other."""

from __future__ import annotations

from .events import StreamEvent


class Doubles:
    """Tells an event that comes again from a word that is said twice.

    The sequence number decides, unless the server gives all events the same. If a stream begins
    twice, all of its events come twice.
    """

    def __init__(self) -> None:
        self._last = b""
        self._first_number: int | None = None
        self._is_throughout = False

    def is_again(self, event: StreamEvent, data: bytes) -> bool:
        """Tell whether an event is the one before it; each counts as many times as it can."""
        if data == self._last and self._is_double(event):
            self._last = b""
            return True
        self._last = data
        if self._first_number is None:
            self._first_number = event.sequence_number
        return False

    def _is_double(self, event: StreamEvent) -> bool:
        number = event.sequence_number
        self._is_throughout |= event.type == "response.created"
        is_numbered = None not in (number, self._first_number)
        return self._is_throughout or (is_numbered and number != self._first_number)

"""Ends storms of identical requests.

A host that can't use an answer repeats its request at once, without end: fifteen times in two
seconds was recorded. After an answer that was cut short, failed or empty, one repeat is answered.
After a good answer a repeat is the user's wish, or another window with the same opening. So only an
uninterrupted run of repeats is a storm.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs

WINDOW_SECONDS = 10.0
MOST_BAD = 1
"""Repeats that are answered within the window after answers that were no good."""
MOST_GOOD = 4
"""Repeats in a row that are answered within the window after good answers."""


@attrs.define(repr=False)
class Damper:
    """Remembers repeats for as long as they matter."""

    _newest: Hashable = attrs.field(default=None, init=False)
    _good: list[float] = attrs.field(factory=list[float], init=False)
    """When the newest request was repeated in a row."""
    _bad: dict[Hashable, list[float]] = attrs.field(
        factory=dict["Hashable", "list[float]"], init=False
    )

    def admit(self, key: Hashable, *, is_retry: bool, answered: bool, now: float) -> bool:
        """Return whether the request `key` is to be answered.

        `answered`: what it repeats got a complete answer. `now` is in seconds, on any clock.
        """
        if key != self._newest or not is_retry:
            self._newest, self._good = key, []
        if not is_retry:
            return True
        self._forget(now)
        times = self._good if answered else self._bad.setdefault(key, [])
        times.append(now)
        return len(times) <= (MOST_GOOD if answered else MOST_BAD)

    def _forget(self, now: float) -> None:
        since = now - WINDOW_SECONDS
        self._good = [time for time in self._good if time >= since]
        for key, times in list(self._bad.items()):
            recent = [time for time in times if time >= since]
            if recent:
                self._bad[key] = recent
            else:
                del self._bad[key]

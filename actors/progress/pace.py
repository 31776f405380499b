"""Decide when a response ends with a call of the progress tool, so that the user sees it. Pure.

VS Code's Agent Host shows a response when it has ended, drops it after 600 seconds and never says
that the user has stopped. A response that ends with a call of `vscodelm-progress` is shown at once,
and the turn goes on with the result. After a stop no result comes.

Each round sends the whole prompt again, so the pauses grow.
"""

from __future__ import annotations

import math

import attrs

FIRST_SECONDS = 2.0
"""Seconds that the first text of a turn waits; each further response takes twice as long."""
LONGEST_SECONDS = 20.0
"""The most seconds that a response takes."""
FORM_SECONDS = 540.0
"""The most seconds that a response takes while the user fills in a form; the host drops it at 600.
"""
STOPPED_SECONDS = 8
"""Seconds without a result after which the user has stopped; a result takes about 0.1 s."""


@attrs.define(eq=False, repr=False)
class Pace:
    """The responses of one turn. Times are in seconds, on any clock."""

    _shown: int = attrs.field(default=0, init=False)
    """The number of responses that ended, since the first that had text."""
    _began: float = attrs.field(default=math.inf, init=False)
    _said: float | None = attrs.field(default=None, init=False)
    """When the first text of this response came."""

    @property
    def has_shown(self) -> bool:
        """Whether some of the turn has been shown already."""
        return self._shown > 0

    @property
    def latest(self) -> float:
        """When the response is to end even if the user fills in a form."""
        return self._began + FORM_SECONDS

    def respond(self, now: float) -> None:
        """Note that a response begins."""
        self._began, self._said = now, None

    def say(self, now: float) -> None:
        """Note that there is something to show."""
        self._said = now if self._said is None else self._said

    def pause(self) -> None:
        """Note that the response ends with a call."""
        self._shown += self.has_shown or self._said is not None

    @property
    def due(self) -> float:
        """When the response is to end with a call, if it hasn't ended by then."""
        latest = self._began + LONGEST_SECONDS
        if self.has_shown:
            return min(self._began + FIRST_SECONDS * 2**self._shown, latest)
        return latest if self._said is None else min(self._said + FIRST_SECONDS, latest)

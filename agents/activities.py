"""Long work beside the answers, such as a download, that is shown to the user while it runs.

The client gets its progress through `told_to`, and may cancel it by its token.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count

import attrs
import trio

from bridge.wire import ProgressParams


@attrs.define(eq=False, repr=False)
class Activity:
    """One of them. It is shown from the first `tell` on, and until it ends."""

    token: int
    title: str
    _send: Callable[[ProgressParams], None]
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    """The scope of the work: the user may cancel it."""
    _is_shown: bool = attrs.field(default=False, init=False)

    def tell(self, message: str) -> None:
        """Show how far it is."""
        self._is_shown = True
        self._send(ProgressParams(self.token, self.title, message))

    def end(self) -> None:
        """Show it no longer."""
        if self._is_shown:
            self._send(ProgressParams(self.token, self.title, is_over=True))


class Activities:
    """All that go on in this process."""

    def __init__(self) -> None:
        self._tell: Callable[[ProgressParams], None] | None = None
        self._tokens = count(1)
        self._open: dict[int, Activity] = {}

    @contextmanager
    def told_to(self, tell: Callable[[ProgressParams], None]) -> Generator[None]:
        """Tell somebody of them."""
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None

    @contextmanager
    def begin(self, title: str) -> Generator[Activity]:
        """Begin one; it ends with the block."""
        activity = Activity(next(self._tokens), title, self._send)
        self._open[activity.token] = activity
        try:
            yield activity
        finally:
            del self._open[activity.token]
            activity.end()

    def cancel(self, token: int) -> None:
        """Cancel one, if it still goes on."""
        activity = self._open.get(token)
        if activity is not None:
            activity.scope.cancel()

    def _send(self, progress: ProgressParams) -> None:
        if self._tell is not None:
            self._tell(progress)

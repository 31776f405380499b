"""The signals that end a command in good order."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable

import attrs
import trio

log = logging.getLogger("vscodelm")


@attrs.define(eq=False, repr=False)
class Signals:
    """Ends a scope at Ctrl-C or SIGTERM. A second signal changes only the exit status.

    But if there is an `at_second`, that is called with the status.
    """

    scope: trio.CancelScope
    at_second: Callable[[int], None] | None = None
    status: int = attrs.field(default=0, init=False)
    """The exit status: 128 and the number of the last signal, or 0."""

    async def watch(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Wait for signals until cancelled; start it with `nursery.start`."""
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            task_status.started()
            async for number in received:
                log.info("signal=%s leaving", number)
                is_second = self.status != 0
                self.status = 128 + number
                self.scope.cancel()
                if is_second and self.at_second is not None:
                    self.at_second(self.status)

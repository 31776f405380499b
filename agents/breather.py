"""Lets others have their turn during work that may be long."""

from __future__ import annotations

import time
from typing import TypeVar

import attrs
import trio

from bridge.work import Work

T = TypeVar("T")

WORK_SECONDS = 0.005
"""CPU time after which others have their turn; the steps between must be short themselves."""


@attrs.define(eq=False, repr=False)
class Breather:
    """Counts the CPU time of one task's work; `rest` between its steps."""

    _since: float = attrs.field(factory=lambda: time.thread_time(), init=False)

    async def rest(self) -> None:
        """Yield to other tasks if the work took its time."""
        if time.thread_time() - self._since >= WORK_SECONDS:
            await trio.lowlevel.checkpoint()
            self._since = time.thread_time()

    async def do(self, work: Work[T]) -> T:
        """Do all of some work, and return what it came to."""
        while True:
            try:
                next(work)
            except StopIteration as end:
                return end.value
            await self.rest()

"""A trio run that goes on only when it is told to, and then until every task waits.

`Stepped` is one run, `Stage` one in which several things come and go.

A state machine of Hypothesis is synchronous, and what it tries is not. So trio runs here as a guest
of the test: `step` does something inside the run and returns when nothing more follows from it, in
threads of trio's neither. No time passes by itself.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

import attrs
import trio
from trio.lowlevel import start_guest_run
from trio.testing import MockClock, wait_all_tasks_blocked

if TYPE_CHECKING:
    from outcome import Outcome

MOST_SECONDS = 30
"""A step that comes to no end is a fault, and so is a run that doesn't end when it is to."""


def _nothing() -> None:
    """Do nothing."""


class Stepped:
    """One run of `main`."""

    def __init__(self, main: Callable[[], Awaitable[None]]) -> None:
        self._main = main
        self._clock = MockClock()
        self._due: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._todo: list[Callable[[], object]] = []
        self._rests = 0
        """How often every task was found waiting."""
        self._scope = trio.CancelScope()
        self._outcome: Outcome[None] | None = None
        start_guest_run(
            self._run,
            run_sync_soon_threadsafe=self._due.put,
            done_callback=self._end,
            host_uses_signal_set_wakeup_fd=True,
            clock=self._clock,
            strict_exception_groups=True,
        )

    @property
    def is_over(self) -> bool:
        """Whether `main` has ended."""
        return self._outcome is not None

    @property
    def now(self) -> float:
        """The time of the run."""
        return self._clock.current_time()

    def step(self, do: Callable[[], object] = _nothing) -> None:
        """Do something, and all that follows from it; raises what `main` raises."""
        if self.is_over:
            return
        before = self._rests
        self._todo.append(do)
        self._tick_until(lambda: self._rests > before)
        if self._outcome is not None:
            self._outcome.unwrap()

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and all happen that was due in it."""
        self.step(lambda: self._clock.jump(seconds))

    def cancel(self) -> None:
        """End it, as it stands; what still has to be done may take a while."""
        self.step(self._scope.cancel)
        self.finish()

    def finish(self, is_so: Callable[[], bool] = lambda: False) -> None:
        """Let time pass until it is over, or until something else is so."""
        for _ in range(MOST_SECONDS):
            if self.is_over or is_so():
                return
            self.pass_time(1.0)
        raise AssertionError("it comes to no end")

    def _tick_until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + MOST_SECONDS  # of the clock on the wall: a disk may be slow
        while not (is_so() or self.is_over):
            if time.monotonic() > until:
                raise AssertionError("it comes to no rest")
            self._due.get(timeout=MOST_SECONDS)()

    async def _run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._attend)
            with self._scope:
                await self._main()
            nursery.cancel_scope.cancel()

    async def _attend(self) -> None:
        threads = trio.to_thread.current_default_thread_limiter()
        while True:  # so something is always due at once, and trio waits for nothing outside
            await wait_all_tasks_blocked()
            if threads.borrowed_tokens:
                await trio.to_thread.run_sync(_nothing)  # meanwhile they can work
            elif self._todo:
                self._todo.pop(0)()
            else:
                self._rests += 1

    def _end(self, outcome: Outcome[None]) -> None:
        self._outcome = outcome


@attrs.define(eq=False)
class Act:
    """Something that goes on on a stage."""

    stepped: Stepped
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _is_over: bool = attrs.field(default=False, init=False)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, with the run or by itself."""
        return self._is_over or self.stepped.is_over

    async def run(self, main: Callable[[], Awaitable[None]]) -> None:
        """Do it."""
        with self.scope:
            await main()
        self._is_over = True

    def cancel(self) -> None:
        """End it, as it stands; what still has to be done may take a while."""
        self.stepped.step(self.scope.cancel)
        self.finish()

    def finish(self) -> None:
        """Let time pass until it is over."""
        self.stepped.finish(lambda: self.is_over)


class Stage:
    """One run for several acts, for which time passes alike."""

    def __init__(self) -> None:
        self.stepped = Stepped(self._run)
        self.stepped.step()

    def begin(self, main: Callable[[], Awaitable[None]]) -> Act:
        """Begin something; what it raises ends all of them, and is raised by the next step."""
        act = Act(self.stepped)
        self.stepped.step(lambda: self._nursery.start_soon(act.run, main))
        return act

    def close(self) -> None:
        """End it all."""
        if not self.stepped.is_over:
            self.stepped.cancel()

    async def _run(self) -> None:
        async with trio.open_nursery() as self._nursery:
            await trio.sleep_forever()

"""Tasks that several chats share a nursery for: the failure of one ends no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVarTuple, Unpack

import attrs
import trio

from .boundary import contained

Ts = TypeVarTuple("Ts")


class Tasks(Protocol):
    """Starts tasks: a `trio.Nursery`, or `GuardedTasks`."""

    def start_soon(
        self,
        async_fn: Callable[[Unpack[Ts]], Awaitable[object]],
        *args: *Ts,
        name: object = None,
    ) -> None:
        """Start a task."""
        ...

    async def start(
        self, async_fn: Callable[..., Awaitable[object]], *args: object, name: object = None
    ) -> Any:
        """Start a task, and return what it says when it has started."""
        ...


@attrs.define(eq=False, repr=False)
class _Status:
    """Passes on that a task has started, and remembers it."""

    inner: trio.TaskStatus[Any]
    is_started: bool = False

    def started(self, value: Any = None) -> None:
        """Note that the task has started."""
        self.is_started = True
        self.inner.started(value)


@attrs.frozen(eq=False, repr=False)
class GuardedTasks:
    """Starts tasks in a nursery; what one of them raises is logged, and the others go on.

    Each task must report its own failure to the code that waits for it: nothing else does.
    """

    nursery: trio.Nursery

    def start_soon(
        self,
        async_fn: Callable[[Unpack[Ts]], Awaitable[object]],
        *args: *Ts,
        name: object = None,
    ) -> None:
        """Start a task."""

        async def guarded() -> None:
            with contained(f"task={_name(async_fn, name)}"):
                await async_fn(*args)

        self.nursery.start_soon(guarded, name=name or async_fn)

    async def start(
        self, async_fn: Callable[..., Awaitable[object]], *args: object, name: object = None
    ) -> Any:
        """Start a task; what it raises before it has started is raised here."""

        async def guarded(*, task_status: trio.TaskStatus[Any]) -> None:
            status = _Status(task_status)
            early: Exception | None = None
            with contained(f"task={_name(async_fn, name)}"):
                try:
                    await async_fn(*args, task_status=status)
                except Exception as error:
                    if status.is_started:
                        raise
                    early = error
            if early is not None:
                raise early

        return await self.nursery.start(guarded, name=name or async_fn)


def _name(async_fn: Callable[..., object], name: object) -> str:
    return str(name or getattr(async_fn, "__qualname__", async_fn))

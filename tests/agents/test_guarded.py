"""Tasks in a nursery that several chats share."""

from __future__ import annotations

import logging

import pytest
import trio

from agents.base import AgentError
from agents.guarded import GuardedTasks
from bridge.errors import Failure


async def fails(word: str = "odd") -> None:
    await trio.lowlevel.checkpoint()
    raise KeyError(word)


async def test_a_task_that_fails_ends_no_other(caplog: pytest.LogCaptureFixture) -> None:
    over = trio.Event()
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            tasks = GuardedTasks(nursery)
            tasks.start_soon(fails, "odd", name="the first")
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(over.wait)
            over.set()
    assert [record.getMessage() for record in caplog.records] == ["task=the first failed: KeyError"]


async def test_a_task_that_fails_after_its_start_ends_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def starts(task_status: trio.TaskStatus[str]) -> None:
        task_status.started("here")
        await fails()

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            assert await GuardedTasks(nursery).start(starts) == "here"
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_what_a_task_raises_before_its_start_is_the_callers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def never(task_status: trio.TaskStatus[None]) -> None:
        await trio.lowlevel.checkpoint()
        raise AgentError(Failure("Unavailable", "nothing can listen here"))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            with pytest.raises(AgentError):
                await GuardedTasks(nursery).start(never)
    assert caplog.records == []

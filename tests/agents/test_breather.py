"""Long work lets others have their turn."""

from __future__ import annotations

from itertools import count

import pytest
import trio

from agents import breather
from agents.breather import Breather
from bridge.work import Work


@pytest.mark.limit("agents.breather.WORK_SECONDS")
async def test_others_have_their_turn_when_the_work_took_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(breather.time, "thread_time", lambda: now)
    turns: list[str] = []
    work = Breather()

    async def other() -> None:
        turns.append("other")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        now = breather.WORK_SECONDS - 0.001
        await work.rest()
        turns.append("not yet")
        for _ in range(2):  # which of two tasks is first is chance
            now += breather.WORK_SECONDS
            await work.rest()
        turns.append("back")
    assert turns == ["not yet", "other", "back"]


async def test_work_is_done_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(step=2 * breather.WORK_SECONDS)
    monkeypatch.setattr(breather.time, "thread_time", lambda: next(clock))
    steps: list[str] = []

    def work() -> Work[str]:
        for number in range(3):
            steps.append(str(number))
            yield
        return "done"

    async def other() -> None:
        for _ in range(3):
            steps.append("other")
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        assert await Breather().do(work()) == "done"
    own = [steps.index(str(number)) for number in range(3)]
    assert steps.count("other") == 3
    assert own[2] - own[0] > 2, "others came in between"

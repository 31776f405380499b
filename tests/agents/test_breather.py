"""Long work lets others have their turn."""

from __future__ import annotations

import pytest
import trio

from agents import breather
from agents.breather import Breather


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

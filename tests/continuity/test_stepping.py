"""A run goes on only when it is told to, and then as far as it can."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from .stepping import Stage, Stepped


def test_a_step_is_done_when_nothing_more_follows_from_it() -> None:
    said: list[str] = []
    event = trio.Event()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow)
            await event.wait()
            said.append("set")

    async def follow() -> None:
        await event.wait()
        await trio.lowlevel.checkpoint()
        said.append("followed")

    run = Stepped(main)
    run.step()
    assert not said
    run.step(event.set)
    assert sorted(said) == ["followed", "set"]
    assert run.is_over


def test_no_time_passes_by_itself() -> None:
    woken: list[float] = []

    async def main() -> None:
        for _ in range(2):
            await trio.sleep(10)
            woken.append(trio.current_time())

    run = Stepped(main)
    run.step()
    run.pass_time(9)
    assert woken == []
    run.pass_time(1)
    assert len(woken) == 1
    run.finish()
    assert len(woken) == 2


def test_what_goes_wrong_is_raised_where_it_was_brought_about() -> None:
    event = trio.Event()

    async def main() -> None:
        await event.wait()
        raise ValueError("broken")

    run = Stepped(main)
    run.step()
    with pytest.RaisesGroup(ValueError):
        run.step(event.set)
    assert run.is_over


def test_a_run_that_is_cancelled_may_take_its_time_to_end() -> None:
    ended: list[bool] = []

    async def main() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(5)
            ended.append(True)

    run = Stepped(main)
    run.step()
    run.cancel()
    assert ended == [True]


def test_a_run_that_does_not_end_is_a_fault() -> None:
    event = trio.Event()
    run = Stepped(event.wait)
    with pytest.raises(AssertionError, match="no end"):
        run.finish()
    run.cancel()


def test_a_step_waits_for_what_threads_do() -> None:
    done: list[str] = []
    event = trio.Event()

    async def main() -> None:
        await event.wait()
        await trio.to_thread.run_sync(sum, range(1_000_000))
        done.append("in one")
        await trio.to_thread.run_sync(done.append, "in another")

    run = Stepped(main)
    run.step()
    assert not run.is_over
    run.step(event.set)
    assert done == ["in one", "in another"]
    assert run.is_over


# Several things on one stage.


def test_acts_come_and_go_and_time_passes_for_all_of_them() -> None:
    stage = Stage()
    woken: list[str] = []

    async def sleep(name: str, seconds: float) -> None:
        await trio.sleep(seconds)
        woken.append(name)

    first = stage.begin(partial(sleep, "first", 5))
    stage.stepped.pass_time(3)
    second = stage.begin(partial(sleep, "second", 5))
    second.cancel()
    assert second.is_over
    assert not first.is_over
    first.finish()
    assert woken == ["first"]
    third = stage.begin(partial(sleep, "third", 5))
    stage.close()
    assert third.is_over
    assert woken == ["first"]


def test_what_goes_wrong_in_an_act_ends_them_all() -> None:
    stage = Stage()
    event = trio.Event()

    async def fail() -> None:
        await event.wait()
        raise ValueError("broken")

    sleeping, failing = stage.begin(trio.sleep_forever), stage.begin(fail)
    with pytest.RaisesGroup(pytest.RaisesGroup(ValueError)):
        stage.stepped.step(event.set)
    assert sleeping.is_over
    assert failing.is_over
    stage.close()

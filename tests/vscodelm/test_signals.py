"""The signals that end a command."""

from __future__ import annotations

import os
import signal
import sys

import pytest
import trio
import trio.testing

from vscodelm.signals import Signals


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't send itself these signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_scope_and_gives_the_status(number: signal.Signals) -> None:
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            signals = Signals(trio.CancelScope())
            await nursery.start(signals.watch)
            with signals.scope:
                os.kill(os.getpid(), number)
                await trio.sleep_forever()
            assert signals.scope.cancelled_caught
            assert signals.status == 128 + number
            nursery.cancel_scope.cancel()


async def test_without_a_signal_the_status_is_zero() -> None:
    async with trio.open_nursery() as nursery:
        signals = Signals(nursery.cancel_scope)
        await nursery.start(signals.watch)
        nursery.cancel_scope.cancel()
    assert signals.status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't send itself these signals")
async def test_a_second_signal_does_what_it_is_told_to_do_and_the_first_does_not() -> None:
    told: list[int] = []
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            signals = Signals(trio.CancelScope(), told.append)
            await nursery.start(signals.watch)
            with signals.scope:
                os.kill(os.getpid(), signal.SIGTERM)
                await trio.sleep_forever()
            await trio.testing.wait_all_tasks_blocked()
            assert not told
            os.kill(os.getpid(), signal.SIGINT)
            while not told:
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
    assert told == [128 + signal.SIGINT]

"""The signals that end a command."""

from __future__ import annotations

import os
import signal
import sys

import pytest
import trio

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

"""Wait for what another process, a thread or a socket does, and of which no event tells."""

from __future__ import annotations

from collections.abc import Callable

import trio

PATIENCE = 30.0
"""Seconds; only a hang needs more."""


async def until(is_so: Callable[[], bool], *, within: float = PATIENCE) -> None:
    """Look again and again until something is so; fail after some time."""
    with trio.fail_after(within):
        while not is_so():  # noqa: ASYNC110  nothing sets an event
            await trio.sleep(0.005)

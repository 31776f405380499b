"""Python's garbage collector, which stops all chats while it works (decision 0022)."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

FULL_PASS_AFTER = 200
"""Passes over the middle generation after which a full one is made at once, rest or no rest."""
_DUE = 10
"""Passes over the middle generation after which a full one is worth while: what Python takes."""


@contextmanager
def paused() -> Generator[None]:
    """Make no pass while modules are loaded: they are no garbage, and a pass delays the start.

    Afterwards they are out of all passes; the first one would look at each of their objects.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def hold_back() -> None:
    """Leave full passes to `collect_if_due`, and what is loaded by now out of all passes."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_PASS_AFTER)
    gc.freeze()


def collect_if_due() -> None:
    """Make a full pass, if Python would have made one by now."""
    if gc.get_count()[2] >= _DUE:
        gc.collect()

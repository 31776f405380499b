"""How the time that something takes grows with its input: CPU time, so that others don't count.

Twice the input may take twice as long. Four times the input takes four times as long where the time
is linear, and sixteen times as long where it grows with the square. The bound lies between.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_BOUND = 9.0
_TRIES = 3
"""What grows with the square does so each time; a busy machine doesn't disturb each time."""
_FLOOR_SECONDS = 0.004
"""What takes less time than this can't be told apart from what the machine adds."""


def assert_linear(make: Callable[[int], T], run: Callable[[T], object], size: int) -> None:
    """Fail unless `run` takes linear time for the inputs of `make`, of which `size` is the small.

    The inputs should be so large that the time of a square would be some ten milliseconds.
    """
    told = ""
    for _ in range(_TRIES):
        many = cost(run, make(4 * size))
        if many < _FLOOR_SECONDS:
            return
        few = cost(run, make(size))
        if many <= _BOUND * max(few, _FLOOR_SECONDS / 8):
            return
        told += f"{few:.4f} s became {many:.4f} s; "
    raise AssertionError(told)


def cost(run: Callable[[T], object], given: T, repeats: int = 3) -> float:
    """Return the least CPU seconds of some runs."""
    found: list[float] = []
    was_collecting = gc.isenabled()
    gc.disable()  # its time grows with all that the tests have left
    try:
        for _ in range(repeats):
            began = time.thread_time()
            run(given)
            found.append(time.thread_time() - began)
    finally:
        if was_collecting:
            gc.enable()
    return min(found)

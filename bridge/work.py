"""Long work in short steps: a generator that yields between them, and returns the result.

Its caller decides how much is done at once (`agents.breather.Breather.do`). Such work changes
nothing that others see before its last step.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Work: TypeAlias = Generator[None, None, T]


def done(work: Work[T]) -> T:
    """Do all the work at once, and return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value

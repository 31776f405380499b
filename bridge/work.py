"""Long work in short steps: a generator that yields between them, and returns what it came to.

Who waits for it decides how much is done at once (`agents.breather.Breather.do`). Such work changes
nothing that others see before its last step.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Work: TypeAlias = Generator[None, None, T]


def done(work: Work[T]) -> T:
    """Do all of it at once, and return what it came to."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value

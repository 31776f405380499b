"""The CPU of one part in a burst from Eliza to standard output.

It is a slope: the time of a long answer less that of a short one, by the parts between them. The
other costs of a request, such as its routing, cancel out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from statistics import median

from .editor import Answer, Editor, editing, message
from .harness import Child, Result, running

LIMIT = 12.0


def measure(short: int = 10_000, long: int = 100_000, repetitions: int = 5) -> list[Result]:
    """Measure the bridge and the floor in turn."""
    with editing() as editor, running([sys.executable, "-m", "benchmarks.floor"]) as floor:
        numbers = count(1)

        def ask_eliza(words: int) -> Answer:
            # with a number, because the same request twice would be a retry
            return editor.ask([message("user", f"!long {words} for the {next(numbers)}. time")])

        def ask_floor(words: int) -> Answer:
            floor.write(b"%d" % words)
            return Editor(floor).read()

        ask_eliza(short)  # the first answer is slower
        ask_floor(short)
        pairs = [
            (
                _slope(editor.child, ask_eliza, short, long),
                _slope(floor, ask_floor, short, long),
            )
            for _ in range(repetitions)
        ]
    part, least = (median(slopes) for slopes in zip(*pairs, strict=True))
    ratio = median(ours / theirs for ours, theirs in pairs)
    note = f"floor {least:.2f} us (trio and msgspec alone), ratio {ratio:.1f} x"
    return [Result("parts", part, LIMIT, "us a part", note)]


def _slope(child: Child, ask: Callable[[int], Answer], short: int, long: int) -> float:
    """Return the microseconds of one part more."""
    began = child.cpu_seconds()
    few = ask(short).parts
    between = child.cpu_seconds()
    many = ask(long).parts
    ended = child.cpu_seconds()
    return 1e6 * ((ended - between) - (between - began)) / (many - few)

"""Measure streams of `vscodelm serve-http`, in CPU time of the server.

`http delta` is the cost of a delta of Eliza over HTTP, less that over stdio, in a burst. `http
alone` compares the deltas of an ACP agent that come one at a time, so that each is a write of its
own: the cost over HTTP, by that over stdio. It is a ratio, because such a cost depends much on what
else the machine does. Both are slopes: a long answer less a short one, by the deltas between them.
`http streams` is the cost of 200 answers that are written at once, by that of the same ones in
turn. It also checks that each client got its own answer.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from statistics import median
from typing import Any

from . import acp_agent
from .editor import editing, message
from .harness import Child, Result
from .http_client import HttpClient, serving

MORE_LIMIT = 60.0
ALONE_LIMIT = 1.5
STREAMS_LIMIT = 2.0
STREAMS = 200
PAUSE_SECONDS = 0.002
"""Between two deltas that come alone."""
_SENTENCE = 20
"""Words that Eliza may say beyond those asked for, to end her sentence."""
_LENGTHS = 20
"""Different lengths of the answers that are written at once."""


def measure(
    short: int = 5_000,
    long: int = 40_000,
    repetitions: int = 3,
    alone: int = 300,
    streams: int = STREAMS,
    words: int = 500,
) -> list[Result]:
    """Measure bursts, single deltas, and many streams."""
    with serving() as client:
        delta = _measure_bursts(client, short, long, repetitions)
        many = _measure_streams(client, streams, words, repetitions)
    return [delta, _measure_alone(alone, repetitions), many]


def _measure_bursts(client: HttpClient, short: int, long: int, repetitions: int) -> Result:
    with editing() as editor:
        numbers = count(1)

        def ask_http(words: int) -> int:
            return client.ask(f"!long {words} for the {next(numbers)}. time").deltas

        def ask_stdio(words: int) -> int:
            text = f"!long {words} for the {next(numbers)}. time"
            return editor.ask([message("user", text)]).parts

        ask_http(short)  # the first answer is slower
        ask_stdio(short)
        pairs = [
            (
                _slope(client.child, ask_http, short, long),
                _slope(editor.child, ask_stdio, short, long),
            )
            for _ in range(repetitions)
        ]
    more = median(http - stdio for http, stdio in pairs)
    return Result("http delta", max(more, 0.01), MORE_LIMIT, "us more", _medians(pairs))


def _measure_alone(deltas: int, repetitions: int) -> Result:
    few = deltas // 10
    script = {"words": {f"{number}": _one_at_a_time(number) for number in (few, deltas)}}
    with serving(script) as client, acp_agent.editing(script) as editor:

        def ask_http(number: int) -> int:
            return client.ask(f"{number}").deltas

        def ask_stdio(number: int) -> int:
            editor.send(f"{number}")
            return sum(1 for _ in editor.parts())

        ask_http(few)
        ask_stdio(few)
        pairs = [
            (
                _slope(client.child, ask_http, few, deltas),
                _slope(editor.child, ask_stdio, few, deltas),
            )
            for _ in range(repetitions)
        ]
    ratio = median(http / stdio for http, stdio in pairs)
    return Result("http alone", max(ratio, 0.01), ALONE_LIMIT, "x", _medians(pairs))


def _one_at_a_time(number: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for _ in range(number):
        steps += [{"sleep": PAUSE_SECONDS}, {"say": "word "}]
    return steps


def _medians(pairs: list[tuple[float, float]]) -> str:
    http, stdio = (median(slopes) for slopes in zip(*pairs, strict=True))
    return f"{http:.1f} us over HTTP, {stdio:.1f} us over stdio"


def _slope(child: Child, ask: Callable[[int], int], short: int, long: int) -> float:
    """Return the microseconds of one delta more."""
    began = child.cpu_seconds()
    few = ask(short)
    between = child.cpu_seconds()
    many = ask(long)
    ended = child.cpu_seconds()
    return 1e6 * ((ended - between) - (between - began)) / (many - few)


def _measure_streams(client: HttpClient, streams: int, words: int, repetitions: int) -> Result:
    """Return what answers cost that are written at once, by the same ones in turn."""
    lengths = [words + _SENTENCE * (number % _LENGTHS) for number in range(streams)]
    texts = [f"!long {length}" for length in lengths]
    ratios: list[float] = []
    for _ in range(repetitions):
        began = client.child.cpu_seconds()
        for text in texts:
            client.ask(text)
        between = client.child.cpu_seconds()
        answers = client.ask_at_once(texts)
        ratios.append((client.child.cpu_seconds() - between) / (between - began))
        for number, (length, answer) in enumerate(zip(lengths, answers, strict=True)):
            if answer.metadata != {"number": str(number)}:
                raise RuntimeError(f"stream {number} has the answer of {answer.metadata}")
            if not length <= answer.deltas < length + _SENTENCE:
                raise RuntimeError(f"stream {number} has {answer.deltas} words, not {length}")
    note = f"{streams} streams at once by the same ones in turn; each had its own answer"
    return Result("http streams", median(ratios), STREAMS_LIMIT, "x", note)

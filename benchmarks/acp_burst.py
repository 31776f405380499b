"""Measure the cost of a part on its way from an ACP agent, a child process, to standard output.

`acp parts` is CPU time of the bridge alone, as a slope: a long answer less a short one, by the
parts between them. `acp of official` is that by the CPU time of a program which does the same work
with the client of the official SDK. `acp first part` is the time from the agent's write of a chunk
to our read of the part, when everything is idle. The same time over the agent's own pipe is
subtracted. Both are medians of many.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from .acp_agent import editing, scripted
from .harness import Child, Result, running

PART_LIMIT = 12.0
OFFICIAL_LIMIT = 0.5
DELAY_LIMIT = 1.0
PAUSE_SECONDS = 0.01
"""Between two chunks, so that each finds everything idle."""


def measure(
    short: int = 10_000, long: int = 100_000, repetitions: int = 5, chunks: int = 300
) -> list[Result]:
    """Measure a burst, then single chunks."""
    return [*_measure_burst(short, long, repetitions), _measure_delay(chunks)]


def _measure_burst(short: int, long: int, repetitions: int) -> list[Result]:
    words = {
        f"{name} {n}": [{"say": "word ", "times": times}]
        for n in range(repetitions + 1)
        for name, times in (("short", short), ("long", long))
    }
    script = {"words": words}
    with (
        editing(script) as editor,
        scripted(script) as command,
        running([sys.executable, "-m", "benchmarks.acp_official", *command]) as official,
    ):

        def ask_official(prompt: str) -> None:
            official.write(prompt.encode())
            while b'"result"' not in official.read():
                pass

        pairs = [
            (
                _slope(editor.child, editor.ask, n, long - short),
                _slope(official, ask_official, n, long - short),
            )
            for n in range(repetitions + 1)
        ][1:]  # the first is slower
    ours, theirs = (median(slopes) for slopes in zip(*pairs, strict=True))
    ratio = median(ours / theirs for ours, theirs in pairs)
    return [
        Result("acp parts", ours, PART_LIMIT, "us a part", "CPU of the bridge"),
        Result("acp of official", ratio, OFFICIAL_LIMIT, "x", f"{theirs:.0f} us there"),
    ]


def _slope(child: Child, ask: Callable[[str], object], n: int, more: int) -> float:
    """Return the microseconds of one part more."""
    began = child.cpu_seconds()
    ask(f"short {n}")
    between = child.cpu_seconds()
    ask(f"long {n}")
    ended = child.cpu_seconds()
    return 1e6 * ((ended - between) - (between - began)) / more


def _measure_delay(chunks: int) -> Result:
    steps: list[dict[str, Any]] = []
    for _ in range(chunks):
        steps += [{"sleep": PAUSE_SECONDS}, {"time": True}]
    script = {"otherwise": steps}
    with editing(script) as editor:
        editor.send("go")
        bridged = _delays(editor.parts())
    with scripted(script) as command, running(command) as agent:
        direct = _delays(_chunks(agent))
    ours, floor = median(bridged) * 1000, median(direct) * 1000
    note = f"{ours:.2f} ms by the bridge, {floor:.2f} ms by the agent's own pipe"
    return Result("acp first part", ours - floor, DELAY_LIMIT, "ms", note)


def _delays(times: Iterable[str]) -> list[float]:
    return [time.monotonic() - float(told) for told in times]


def _chunks(agent: Child) -> Iterable[str]:
    """Prompt an agent directly; return the texts of its chunks as they come."""

    def request(id_: int, method: str, params: Any) -> None:
        line = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        agent.write(json.dumps(line).encode())

    request(1, "initialize", {"protocolVersion": 1})
    agent.read()
    request(2, "session/new", {"cwd": "/", "mcpServers": []})
    session = json.loads(agent.read())["result"]["sessionId"]
    prompt = [{"type": "text", "text": "go"}]
    request(3, "session/prompt", {"sessionId": session, "prompt": prompt})
    while True:
        match json.loads(agent.read()):
            case {"params": {"update": {"content": {"text": text}}}}:
                yield text
            case _:
                return

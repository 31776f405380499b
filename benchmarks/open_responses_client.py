"""Measure the cost of an event on its way from a socket, through HTTP, to the agent's event.

The endpoint is another process. `or client` is the CPU time of this process per event, as a slope:
a long answer less a short one, 16 KiB at once. `or client first` is the time from the endpoint's
send to our part, when everything is idle. The same time for bare bytes from a socket is subtracted.
Both are medians of many.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from statistics import median

import trio

from agents.events import Prompt, Say
from agents.open_responses.agent import OpenResponsesAgent
from bridge.wire import ChatMessage, OpenResponsesSpec, TextPart

from .harness import Result, running

EVENT_LIMIT = 8.0
FIRST_LIMIT = 1.0
_STAMP = re.compile(rb'"delta": "(\d+) "')


def measure(
    short: int = 5_000, long: int = 55_000, repetitions: int = 5, events: int = 300
) -> list[Result]:
    """Measure bursts, then single events."""
    with running([sys.executable, "-m", "benchmarks.open_responses_server"]) as server:
        port = int(server.read())
        return trio.run(_measure, port, short, long, repetitions, events)


async def _measure(port: int, short: int, long: int, repetitions: int, events: int) -> list[Result]:
    async with trio.open_nursery() as nursery:
        spec = OpenResponsesSpec(f"http://127.0.0.1:{port}/v1", "m")
        agent = OpenResponsesAgent(spec, nursery)
        slopes: list[float] = []
        for _ in range(repetitions + 1):
            costs = [await _cost(agent, number) for number in (short, long)]
            slopes.append(1e6 * (costs[1] - costs[0]) / (long - short))
        delay = median(await _delays(agent, events)) - median(await _bare_delays(port, events))
        await agent.aclose()
        nursery.cancel_scope.cancel()
    return [
        Result("or client", median(slopes[1:]), EVENT_LIMIT, "us an event", "CPU, over a socket"),
        Result("or client first", delay, FIRST_LIMIT, "ms", "more than to bare bytes, when idle"),
    ]


async def _cost(agent: OpenResponsesAgent, number: int) -> float:
    began = time.process_time()
    said = await _ask(agent, f"burst {number}")
    assert "".join(text for _, text in said).count("word") == number
    return time.process_time() - began


async def _delays(agent: OpenResponsesAgent, number: int) -> list[float]:
    said = await _ask(agent, f"stamps {number}")
    delays = [*_milliseconds(said)]
    assert len(delays) == number
    return delays


async def _bare_delays(port: int, number: int) -> list[float]:
    body = json.dumps({"input": [{"content": f"stamps {number}"}]}).encode()
    delays: list[float] = []
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        async for chunk in stream:
            now = time.monotonic_ns()
            delays += [(now - int(sent)) / 1e6 for sent in _STAMP.findall(chunk)]
    assert len(delays) == number
    return delays


def _milliseconds(said: list[tuple[int, str]]) -> Iterator[float]:
    for heard, text in said:
        yield from ((heard - int(sent)) / 1e6 for sent in text.split())


async def _ask(agent: OpenResponsesAgent, words: str) -> list[tuple[int, str]]:
    """Return what was said, and when."""
    prompt = Prompt((ChatMessage("user", (TextPart(words),)),))
    said: list[tuple[int, str]] = []
    async with agent.session(prompt) as session:
        async for batch in session.run(prompt):
            now = time.monotonic_ns()
            said += [(now, event.text) for event in batch if isinstance(event, Say)]
    return said

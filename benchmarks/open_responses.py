"""Measure the cost of an Open Responses event: from its bytes to the agent's event.

`or 16 KiB` and `or 1 event` are CPU time of the splitter and the machine, by how many bytes come at
once. `or of httpx-sse` divides the first of them by the CPU time of httpx-sse and json.loads, which
only parse the same bytes in the same run. `or memory` is the memory left after a million events.
`or calls` divides the CPU time of a call in a response with many calls by that of a call in one
with a quarter of them: 1 where the time grows as their number does, 4 where it grows as its square.
`or first part` is the time from the first byte of a response to its first part, parsing alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import msgspec
from httpx_sse import EventSource

from agents.events import CallTool, Say
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.machine import StreamMachine
from agents.open_responses.stream.sse import SseSplitter

from .harness import Result

CHUNKED_LIMIT = 4.0
SINGLE_LIMIT = 9.0
RATIO_LIMIT = 0.6
MEMORY_LIMIT = 1.0
FIRST_LIMIT = 1.0
CALLS_LIMIT = 2.0
CHUNK = 16 * 1024


def measure(
    events: int = 50_000,
    repetitions: int = 7,
    many: int = 1_000_000,
    firsts: int = 200,
    calls: int = 16_000,
) -> list[Result]:
    """Measure events of text, which most events are."""
    single = [_delta(number) for number in range(events)]
    chunks = list(_chunked(b"".join(single)))
    rounds = [
        (
            _microseconds(lambda: _say(chunks), events),
            _microseconds(lambda: _say(single), events),
            _microseconds(lambda: _read_by_others(chunks), events),
        )
        for _ in range(repetitions)
    ]
    chunked, one_each, others = (median(costs) for costs in zip(*rounds, strict=True))
    ratio = median(ours / theirs for ours, _, theirs in rounds)
    return [
        Result("or 16 KiB", chunked, CHUNKED_LIMIT, "us an event", "CPU, 16 KiB at once"),
        Result("or 1 event", one_each, SINGLE_LIMIT, "us an event", "CPU, one event at once"),
        Result("or of httpx-sse", ratio, RATIO_LIMIT, "x", f"{others:.1f} us there"),
        _measure_memory(many),
        _measure_first(firsts),
        _measure_calls(calls),
    ]


def _delta(number: int) -> bytes:
    """Return an event as servers send it, of about 270 bytes."""
    event: dict[str, Any] = {
        "type": "response.output_text.delta",
        "sequence_number": number,
        "item_id": "msg_68a1f0c2b1d48190a1e7c5a0f3f5a9d20b1c2d3e4f5a6b7c",
        "output_index": 0,
        "content_index": 0,
        "delta": f" word{number % 97}",
        "logprobs": [],
        "obfuscation": "Ahk3bQx9",
    }
    return b"event: response.output_text.delta\ndata: " + json.dumps(event).encode() + b"\n\n"


def _chunked(body: bytes) -> Iterator[bytes]:
    return (body[start : start + CHUNK] for start in range(0, len(body), CHUNK))


def _microseconds(run: Callable[[], int], events: int) -> float:
    began = time.process_time()
    said = run()
    ended = time.process_time()
    assert said == events
    return 1e6 * (ended - began) / events


def _say(chunks: Iterable[bytes]) -> int:
    splitter = SseSplitter()
    machine = StreamMachine(outward=CallIds().outward)
    said = 0
    for chunk in chunks:
        for name, data in splitter.feed(chunk):
            for event in machine.feed(data, name):
                said += isinstance(event, Say)
    return said


def _read_by_others(chunks: Iterable[bytes]) -> int:
    """Read the deltas as a program with httpx-sse does."""
    return asyncio.run(_read_with_httpx_sse(chunks))


async def _read_with_httpx_sse(chunks: Iterable[bytes]) -> int:
    class Body(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

    headers = {"content-type": "text/event-stream"}
    source = EventSource(httpx.Response(200, headers=headers, stream=Body()))
    said = 0
    async for event in source.aiter_sse():
        said += bool(json.loads(event.data)["delta"])
    return said


def _measure_memory(events: int) -> Result:
    """Measure how much the process grows from a tenth of the events to all of them."""
    splitter = SseSplitter()
    machine = StreamMachine(outward=CallIds().outward)

    def feed(numbers: range) -> None:
        for number in numbers:
            for name, data in splitter.feed(_delta(number)):
                machine.feed(data, name)

    feed(range(events // 10))
    before = _resident()
    feed(range(events // 10, events))
    grown = (_resident() - before) / 1e6
    note = f"grown over {events - events // 10} events"
    return Result("or memory", max(grown, 0.0), MEMORY_LIMIT, "MB", note)


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _measure_first(times: int) -> Result:
    """Measure the first part of a response, behind the events that come before it."""
    snapshot: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "status": "in_progress",
        "output": [],
    }
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    before: list[dict[str, Any]] = [
        {"type": "response.created", "sequence_number": 0, "response": snapshot},
        {"type": "response.in_progress", "sequence_number": 1, "response": snapshot},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    ]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in before)
    body += _delta(0)
    costs: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        assert _say([body]) == 1
        costs.append(1e3 * (time.perf_counter() - began))
    return Result("or first part", median(costs), FIRST_LIMIT, "ms", "from its bytes")


def _measure_calls(calls: int) -> Result:
    """Measure how the cost of a call grows with the calls before it, as vLLM tells them."""
    few, many = (
        min(_cost_of_calls(list(_calls(count))) / count for _ in range(3))
        for count in (calls // 4, calls)
    )
    note = f"{1e6 * many:.0f} us a call of {calls:,}"
    return Result("or calls", many / few, CALLS_LIMIT, "x", note)


def _cost_of_calls(events: list[bytes]) -> float:
    machine = StreamMachine(outward=CallIds().outward, tools={"look"})
    began = time.process_time()
    made = sum(isinstance(one, CallTool) for event in events for one in machine.feed(event))
    ended = time.process_time()
    assert made == len(events) // 4
    return ended - began


def _calls(count: int) -> Iterator[bytes]:
    """Return the events of so many calls, whose items have other ids when they are done."""
    output: list[dict[str, Any]] = []
    for number in range(count):
        arguments = f'{{"a":{number}}}'
        item: dict[str, Any] = {"type": "function_call", "name": "look", "status": "completed"}
        added = {**item, "id": f"fc_{number}", "call_id": f"call_{number}", "arguments": ""}
        done = {**item, "id": None, "call_id": f"fc_other_{number}", "arguments": arguments}
        key = {"item_id": f"fc_{number}", "output_index": number}
        stem = "response.function_call_arguments"
        events: list[dict[str, Any]] = [
            {"type": "response.output_item.added", "output_index": number, "item": added},
            {"type": f"{stem}.delta", **key, "delta": arguments},
            {"type": f"{stem}.done", **key, "arguments": arguments},
            {"type": "response.output_item.done", "output_index": number + 1, "item": done},
        ]
        output.append({**done, "id": f"last_{number}", "call_id": f"call_last_{number}"})
        yield from map(msgspec.json.encode, events)
    yield msgspec.json.encode(
        {"type": "response.completed", "response": {"status": "completed", "output": output}}
    )

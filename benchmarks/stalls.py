"""How long the worst input of an endpoint holds all chats: the longest step between two yields.

Each case is as large as its limit allows, and is read by the code that reads answers, under trio.
What one step takes is counted in CPU time of the thread, without Python's garbage collector: its
pauses come at any step, and last longer than ours where much is in memory.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import attrs
import msgspec
import trio

from agents.breather import Breather
from agents.open_responses.call_ids import CallIds
from agents.open_responses.inflation import STEP_BYTES
from agents.open_responses.sse import SseSplitter
from agents.open_responses.stream import StreamMachine

from .harness import Result

LIMIT_MS = 50.0
CALLS = 16_000
"""In one answer."""
_ROUNDS = 3


def measure() -> list[Result]:
    """Return the longest step of the worst case."""
    found = {name: median(_longest(make()) for _ in range(_ROUNDS)) for name, make in CASES.items()}
    worst = max(found, key=lambda name: found[name])
    return [
        Result(
            "stalls",
            1000 * found[worst],
            LIMIT_MS,
            "ms CPU",
            f"the longest step of an answer: {worst}",
        )
    ]


@attrs.define(eq=False)
class _Steps(trio.abc.Instrument):
    """Measures the steps of all tasks."""

    longest: float = 0.0
    _began: float = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        del task
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        del task
        self.longest = max(self.longest, time.thread_time() - self._began)


def _longest(body: bytes) -> float:
    steps = _Steps()
    gc.collect()
    gc.disable()
    try:
        trio.run(_read, body, instruments=[steps])
    finally:
        gc.enable()
    return steps.longest


async def _read(body: bytes) -> None:
    """Read a stream as a response does."""
    splitter, machine = SseSplitter(), StreamMachine(outward=CallIds().outward)
    breather = Breather()
    for at in range(0, len(body), STEP_BYTES):
        await trio.lowlevel.checkpoint()
        for name, data in splitter.feed(body[at : at + STEP_BYTES]):
            for _ in machine.steps(data, name):
                await breather.rest()
    assert machine.is_over


def _stream(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %s\n\n" % msgspec.json.encode(event) for event in events)


def _call(number: int, name: str) -> dict[str, Any]:
    ids = {"id": f"fc_{name}{number}", "call_id": f"call_{name}{number}"}
    arguments = f'{{"a":{number}}}'
    return {"type": "function_call", **ids, "name": "look", "arguments": arguments}


def _end(output: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


def _calls_in_the_end() -> bytes:
    return _stream(_end([_call(number, "a") for number in range(CALLS)]))


def _calls_with_other_ids() -> bytes:
    done = [
        {"type": "response.output_item.done", "item": _call(number, "a")} for number in range(CALLS)
    ]
    return _stream(*done, _end([_call(number, "b") for number in range(CALLS)]))


def _messages() -> bytes:
    content = [{"type": "output_text", "text": "a text"}]
    return _stream(
        _end([{"type": "message", "id": f"m{n}", "content": content} for n in range(CALLS)])
    )


CASES: dict[str, Callable[[], bytes]] = {
    "calls in the end": _calls_in_the_end,
    "calls with other ids in the end": _calls_with_other_ids,
    "messages in the end": _messages,
}

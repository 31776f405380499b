"""Measure how long the worst input blocks all chats: the longest step between two yields.

The whole bridge runs in this process, with an editor in memory; agents and endpoints are real ones
beyond a pipe or a socket. Each case is as large as its limit allows. A step is measured in CPU time
of the thread. Modules that are loaded on first use don't count: they are loaded before. The passes
of Python's garbage collector do, as `vscodelm` has them (`vscodelm.collector`).

The row is the worst of the cases (`stall_cases.HELD`), and of the reading of endpoints' answers.
"""

from __future__ import annotations

import gc
import math
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import msgspec
import trio

from actors.system import run_system
from actors.trace import Trace
from agents.breather import Breather
from agents.directory import DirectoryOptions, open_directory
from agents.open_responses.http.inflation import STEP_BYTES
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.machine import StreamMachine
from agents.open_responses.stream.sse import SseSplitter
from bridge.models import Catalogue
from bridge.stdio import CHUNK
from vscodelm import collector

from .harness import Result
from .stall_cases import ANSWERS, HELD, Case, Size

LIMIT_MS = 50.0
PATIENCE_SECONDS = 60.0
"""Seconds for one case; it hangs if it needs longer."""
_ROUNDS = 3
_ENDS = (b'"id":1,"result":', b'"id":1,"error":')


def measure(size: Size | None = None, rounds: int = _ROUNDS) -> list[Result]:
    """Return the longest step of the worst case that must hold the limit."""
    size = size or Size()
    for make in HELD.values():
        _longest(make(Size(calls=10, line_bytes=10_000, output_bytes=1_000)))  # loads modules
    found = {name: _milliseconds(make(size), rounds) for name, make in HELD.items()}
    for name, make in ANSWERS.items():
        found[f"the reading of {name}"] = _milliseconds(make(size), rounds, _longest_reading)
    worst = max(found, key=lambda name: found[name])
    note = f"longest step at the limits: {worst}"
    return [Result("stalls", found[worst], LIMIT_MS, "ms CPU", note)]


def _milliseconds(case: Case, rounds: int, longest: Callable[[Case], float] | None = None) -> float:
    return 1000 * median((longest or _longest)(case) for _ in range(rounds))


@attrs.define(eq=False)
class Steps(trio.abc.Instrument):
    """Measures the steps of all tasks."""

    longest: float = 0.0
    task: str = ""
    """Which task made it."""
    _began: float = math.inf  # the step in which it was added has no beginning

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Begin a step."""
        del task
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        """End it."""
        took = time.thread_time() - self._began
        if took > self.longest:
            self.longest, self.task = took, task.name


@contextmanager
def _collecting_as_vscodelm() -> Generator[None]:
    thresholds = gc.get_threshold()
    gc.collect()
    collector.hold_back()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


def _longest(case: Case) -> float:
    """Return the longest step of the bridge, in seconds, while it answers a request."""
    steps = Steps()
    with _collecting_as_vscodelm(), _answering(case) as agent:
        trio.run(_ask, _request(case, agent), steps)
    return steps.longest


def _longest_reading(case: Case) -> float:
    """Return the longest step, in seconds, while an endpoint's answer is read."""
    steps = Steps()
    with _collecting_as_vscodelm():
        trio.run(_read, case.answer.partition(b"\r\n\r\n")[2], instruments=[steps])
    return steps.longest


async def _read(body: bytes) -> None:
    splitter, machine = SseSplitter(), StreamMachine(outward=CallIds().outward)
    breather = Breather()
    for at in range(0, len(body), STEP_BYTES):
        await trio.lowlevel.checkpoint()
        for name, data in splitter.feed(body[at : at + STEP_BYTES]):
            for _ in machine.steps(data, name):
                await breather.rest()
    assert machine.is_over


def _request(case: Case, agent: Any) -> bytes:
    if case.count is not None:
        params = {"modelId": "any", "text": case.count}
        line = {"jsonrpc": "2.0", "id": 1, "method": "lm/provideTokenCount", "params": params}
        return msgspec.json.encode(line) + b"\n"
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"lm/provideLanguageModelChatResponse","params":'
        b'{"modelId":"any","agent":%b,"options":{"tools":[{"name":"look"}]},"messages":[%b]}}\n'
        % (msgspec.json.encode({case.agent: agent}), b",".join(case.messages))
    )


@contextmanager
def _answering(case: Case) -> Generator[dict[str, Any]]:
    """Return the definition of an agent that gives the answer of a case."""
    match case.agent:
        case "eliza":
            yield {"deterministic": True}
        case "acp":
            with TemporaryDirectory() as folder:
                answer = Path(folder) / "answer"
                answer.write_bytes(case.answer)
                program = str(Path(__file__).parent / "canned_agent.py")
                args = ["-S", program, str(answer)]
                yield {"name": "canned", "command": sys.executable, "args": args}
        case "open_responses":
            with socket.create_server(("127.0.0.1", 0)) as listener:
                serving = threading.Thread(target=_serve, args=(listener, case.answer))
                serving.start()
                address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
                yield {"baseUrl": address, "model": "m", "retries": 0}
                serving.join()


def _serve(listener: socket.socket, answer: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(CHUNK):  # the request; what isn't read, would break the answer
                pass
        except OSError:  # of an error only the beginning is read
            return


@attrs.define(eq=False)
class _Editor(trio.abc.ReceiveStream, trio.abc.SendStream):
    """Asks once, and ends its input when it is answered."""

    request: bytes
    said: bytes = b""
    _at: int = 0
    _answered: trio.Event = attrs.field(factory=trio.Event)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        await trio.lowlevel.checkpoint()
        chunk = self.request[self._at : self._at + (max_bytes or CHUNK)]
        self._at += len(chunk)
        if not chunk:
            await self._answered.wait()
        return chunk

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        self.said = bytes(data)
        if any(end in self.said for end in _ENDS):
            self._answered.set()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


async def _ask(request: bytes, steps: Steps) -> None:
    editor = _Editor(request)
    trace = Trace()
    with trio.fail_after(PATIENCE_SECONDS):
        async with open_directory(DirectoryOptions(trace.tap)) as directory:
            trio.lowlevel.add_instrument(steps)
            await run_system(
                editor,
                editor,
                agent_for=directory.agent_for,
                catalogue=Catalogue(),
                trace=trace,
                until=trio.CancelScope(),
            )
            trio.lowlevel.remove_instrument(steps)

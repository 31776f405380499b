"""Nothing that comes in over a wire raises, takes long, or stays in memory.

Each fuzzer takes lines, and fails on an exception that isn't one of its own. A million of each run
with the planted faults; a few thousand, always the same, with the fast tests.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from actors.editor import EditorPort
from actors.messages import Asked, StatsAsked
from actors.outbox import Outbox
from actors.trace import Trace
from agents.acp.permissions import question_of
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.rpc.decode import (
    Envelope,
    decode_lines,
    decode_params,
    decode_result,
    decode_update,
)
from agents.acp.schema.errors import ProtocolFault
from agents.acp.schema.methods import METHODS, PROMPT, RequestPermissionRequest
from agents.acp.schema.updates import SessionNotification
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.machine import StreamMachine
from agents.open_responses.stream.sse import SseOverflow, SseSplitter
from bridge.jsonrpc import LineSplitter
from bridge.models import Catalogue
from bridge.work import done
from tests.agents.acp.scenes import SCENES, Ask
from tests.fakes.responses_events import Call, Refused, Text, Thought, Writer, response_object, sse

from .mutations import JSON, mutated

GOLDEN = Path(__file__).parents[1] / "golden"
SHORT, LONG = 1_500, int(os.environ.get("FUZZ_LINES", "1000000"))
ROUND = 500
"""So many lines belong to one connection, turn or response; then another begins."""
LIMIT = 100_000
GROWTH_BYTES = 64 * 1024 * 1024
CPU_SECONDS = 20.0
"""Of one line of at most 20,000 bytes, however slow the machine is."""

Fuzzer = Callable[[Sequence[bytes]], None]


def cut(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Return a stream in pieces that know nothing of lines."""
    whole = b"\n".join(lines) + b"\n"
    for start in range(0, len(whole), 10_007):
        yield whole[start : start + 10_007]


# The editor's wire.


class Replies(Outbox):
    """Looks at each line that is sent, and keeps those of errors that nobody expected."""

    def __init__(self) -> None:
        super().__init__()
        self.unexpected: list[bytes] = []

    def put(self, lines: bytes) -> None:
        for line in lines.splitlines():
            match json.loads(line):
                case {"error": {"data": {"kind": "Internal"}}}:
                    self.unexpected.append(line)
                case _:
                    pass


def editor_lines() -> list[bytes]:
    lines = [
        line.removeprefix("> ").encode()
        for file in sorted(GOLDEN.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("> ")
    ]
    count_tokens: JSON = {"modelId": "eliza", "text": "How many?"}
    asked: list[tuple[str, JSON]] = [
        ("lm/provideTokenCount", count_tokens),
        ("lm/stats", {}),
        ("lm/cancel", {"requestId": 1}),
    ]
    return lines + [
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()
        for method, params in asked
    ]


def hear_editor(lines: Sequence[bytes]) -> None:
    replies = Replies()
    port = EditorPort(replies, Catalogue(), Trace())
    splitter = LineSplitter(LIMIT)
    for chunk in cut(lines):
        for line in splitter.feed(chunk):
            match done(port.hear(line)):
                case Asked(request=request) | StatsAsked(request=request):
                    port.settle(request)
                case _:
                    pass
    assert replies.unexpected == []


# An ACP agent.


def agent_lines() -> list[bytes]:
    lines: list[bytes] = []
    for scene in SCENES.values():
        for one in scene:
            if isinstance(one, Ask):
                options = [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]
                call = msgspec.json.decode(msgspec.json.encode(one.call))
                asks = {"sessionId": "s", "toolCall": call, "options": options}
                lines.append(_acp(id=1, method="session/request_permission", params=asks))
            else:
                told = msgspec.to_builtins(SessionNotification("s", one))
                lines.append(_acp(method="session/update", params=told))
    usage = {"inputTokens": 7, "outputTokens": 1, "totalTokens": 8}
    lines.append(_acp(id=2, result={"stopReason": "end_turn", "usage": usage}))
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}
    lines.append(_acp(id=3, result={"sessionId": "s", "modes": modes, "configOptions": []}))
    lines.append(_acp(id=4, error={"code": -32000, "message": "no", "data": {"why": ["x"]}}))
    return lines


def _acp(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def hear_agent(lines: Sequence[bytes]) -> None:
    renderer, splitter, ids = Renderer(SessionView(), root="/work"), LineSplitter(LIMIT), count()
    for chunk in cut(lines):
        for message in decode_lines(splitter.feed(chunk)):
            if isinstance(message, Envelope):
                with suppress(ProtocolFault):
                    _take(renderer, message, next(ids))
    renderer.finish()


def _take(renderer: Renderer, message: Envelope, number: int) -> None:
    if message.method == "session/update":
        renderer.update(decode_update(message.params).update)
    elif message.method is not None:
        asked = decode_params(RequestPermissionRequest, message.params, message.method)
        question = question_of(asked, f"call-{number}", renderer.ask(asked.tool_call))
        msgspec.json.encode(question.ask)
        renderer.begin_response()
    elif message.result is not UNSET:
        method = METHODS[number % len(METHODS)]
        decode_result(method, message.result)
        renderer.finish(decode_result(PROMPT, message.result).usage)


# An endpoint's stream.


def endpoint_events() -> list[bytes]:
    numbers = count()

    def new_id(kind: str) -> str:
        return f"{kind}_{next(numbers)}"

    writer = Writer(response_object({"model": "m"}, "resp_1"), new_id)
    events = list(writer.begin(is_queued=True))
    for output in (
        Thought("I think", "c2VjcmV0", "raw"),
        Text("Grüße, [world](https://example.org)", link="https://example.org/a"),
        Call("read", {"path": "a" * 20}),
        Call("write", {"path": "b", "text": "c"}),
        Refused("I won't."),
    ):
        events += writer.say(output)
    events += writer.end()
    return [*(sse(event).removesuffix(b"\n") for event in events), b"data: [DONE]\n", b": ping\n"]


def hear_endpoint(lines: Sequence[bytes]) -> None:
    splitter = SseSplitter(LIMIT)
    machine = StreamMachine(outward=CallIds().outward, tools={"read", "write"})
    try:
        for chunk in cut(lines):
            for name, data in splitter.feed(chunk):
                machine.feed(data, name)
                if machine.is_over:  # as often as it is; there is much more to hear
                    msgspec.json.encode(machine.outcome.notes)
                    machine = StreamMachine(outward=CallIds().outward, tools={"read", "write"})
    except SseOverflow:
        pass
    machine.finish()


FUZZERS: Sequence[tuple[Fuzzer, Callable[[], list[bytes]]]] = (
    (hear_editor, editor_lines),
    (hear_agent, agent_lines),
    (hear_endpoint, endpoint_events),
)
each_fuzzer = pytest.mark.parametrize(
    ("hear", "corpus"), FUZZERS, ids=["editor", "ACP agent", "endpoint"]
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Let nothing be logged: pytest keeps every record of a test."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def run(hear: Fuzzer, corpus: Sequence[bytes], seed: int, lines: int) -> None:
    """Let a fuzzer hear so many lines, in rounds."""
    for start in range(0, lines, ROUND):
        heard = list(mutated(corpus, seed + start, min(ROUND, lines - start)))
        try:
            hear(heard)
        except Exception as error:
            raise AssertionError(f"round {seed + start}: {_smallest(hear, heard)!r}") from error


def _smallest(hear: Fuzzer, lines: list[bytes]) -> list[bytes]:
    """Return few lines that still fail: whole blocks are left out while that is so."""
    size = len(lines) // 2
    while size:
        for start in range(0, len(lines), size):
            fewer = lines[:start] + lines[start + size :]
            try:
                hear(fewer)
            except Exception:
                lines = fewer
                break
        else:
            size //= 2
    return lines


def resident_bytes() -> int:
    """Return how much of us is in memory."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_lines_are_mutated_the_same_way_for_the_same_seed() -> None:
    corpus = agent_lines()
    assert list(mutated(corpus, 1, 50)) == list(mutated(corpus, 1, 50))
    assert list(mutated(corpus, 1, 50)) != list(mutated(corpus, 2, 50))


def test_a_failure_names_the_line_that_brings_it_about() -> None:
    def hear(lines: Sequence[bytes]) -> None:
        assert b"x" not in lines

    assert _smallest(hear, [*[b"a"] * 9, b"x", *[b"b"] * 20]) == [b"x"]


@each_fuzzer
def test_nothing_escapes_of_what_is_mutated(
    hear: Fuzzer, corpus: Callable[[], list[bytes]]
) -> None:
    run(hear, corpus(), 0, SHORT)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory is read as Linux has it")
@each_fuzzer
def test_nothing_escapes_hangs_or_stays_of_a_million_lines(
    hear: Fuzzer, corpus: Callable[[], list[bytes]]
) -> None:
    faulthandler.cancel_dump_traceback_later()  # a million lines take minutes
    lines = corpus()
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")  # noqa: T201  pytest shows it where the test fails
    run(hear, lines, seed, 10_000)
    gc.collect()
    before = resident_bytes()
    for start in range(0, LONG, ROUND):
        began = time.thread_time()
        run(hear, lines, seed + 10_000 + start, ROUND)
        assert time.thread_time() - began < CPU_SECONDS, f"round {seed + 10_000 + start}"
    gc.collect()
    assert resident_bytes() - before < GROWTH_BYTES

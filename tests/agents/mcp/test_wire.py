from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import suppress

import attrs
import pytest
import trio
from trio.testing import memory_stream_pair

from agents.mcp import wire
from agents.mcp.wire import LineWire
from bridge.jsonrpc import TooLong
from bridge.stdio import PipeSink


@attrs.frozen
class Agent:
    """Has a pipe to read from, and one to write to."""

    wire: LineWire
    source: int
    sink: int


@pytest.fixture
def agent() -> Generator[Agent]:
    if sys.platform == "win32":
        pytest.skip("there pipes can't be polled")
    source, ours = os.pipe()
    theirs, sink = os.pipe()
    os.set_blocking(source, False)
    stream = trio.StapledStream(PipeSink(ours), trio.lowlevel.FdStream(theirs))
    yield Agent(LineWire(stream), source, sink)
    trio.run(stream.aclose)
    for fd in (source, sink):
        with suppress(OSError):  # the test has closed it
            os.close(fd)


def test_on_a_pipe_what_there_is_room_for_is_written_without_waiting(agent: Agent) -> None:
    assert agent.wire.write_now(b"a line\n") == 7
    assert os.read(agent.source, 100) == b"a line\n"


def test_where_nobody_reads_nothing_is_written(agent: Agent) -> None:
    os.close(agent.source)
    assert agent.wire.write_now(b"a line\n") == 0


@pytest.mark.limit("agents.mcp.wire.MOST_LINE_BYTES")
async def test_a_line_may_be_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_LINE_BYTES", 10)
    ours, theirs = memory_stream_pair()
    lines = LineWire(ours)
    with trio.fail_after(5):
        await theirs.send_all(b"x" * 10 + b"\n" + b"x" * 11 + b"\n")
        assert await lines.receive() == [b"x" * 10, TooLong(11)]


async def test_elsewhere_nothing_is_written_without_waiting() -> None:
    ours, theirs = memory_stream_pair()
    wire = LineWire(ours)
    assert wire.write_now(b"a line\n") == 0
    with trio.fail_after(5):
        assert await wire.send(b"a line\n")
        assert await theirs.receive_some() == b"a line\n"


async def test_what_comes_in_is_cut_into_lines_until_the_end() -> None:
    ours, theirs = memory_stream_pair()
    wire = LineWire(ours)
    lines: list[bytes | TooLong] = []
    with trio.fail_after(5):
        await theirs.send_all(b"one\ntw")
        lines += await wire.receive() or []
        await theirs.send_all(b"o\n")
        lines += await wire.receive() or []
        await theirs.aclose()
        assert await wire.receive() is None
        assert not await wire.send(b"nobody reads\n")
    assert lines == [b"one", b"two"]

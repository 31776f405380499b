from __future__ import annotations

import os
import select
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from bridge import stdio
from bridge.stdio import PIPE, PipeSink, widen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there pipes can't be polled")


@attrs.frozen
class Pipe:
    source: int
    sink: PipeSink

    def read(self) -> bytes:
        return os.read(self.source, 1_000_000)


@pytest.fixture
async def pipe() -> Pipe:
    source, sink = os.pipe()
    os.set_blocking(source, False)
    return Pipe(source, PipeSink(sink))


@contextmanager
def cancelled() -> Generator[None]:
    with trio.CancelScope() as scope:
        scope.cancel()
        yield


async def test_what_is_written_is_there_before_any_other_task_has_its_turn(pipe: Pipe) -> None:
    was_there: list[bool] = []

    async def look() -> None:
        was_there.append(select.select([pipe.source], [], [], 0)[0] != [])

    async with pipe.sink, trio.open_nursery() as nursery:
        for _ in range(20):  # trio has them in any order
            nursery.start_soon(look)
        await pipe.sink.send_all(b"a line\n")
    assert was_there == [True] * 20
    assert pipe.read() == b"a line\n"
    os.close(pipe.source)


async def test_more_than_a_pipe_holds_waits_for_the_reader_and_arrives_whole(pipe: Pipe) -> None:
    words = bytes(range(256)) * 4_000
    heard = b""
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pipe.sink.send_all, words)
            await wait_all_tasks_blocked()
            while len(heard) < len(words):
                heard += pipe.read()
                await wait_all_tasks_blocked()
        assert heard == words
        await pipe.sink.wait_send_all_might_not_block()
        await pipe.sink.aclose()
    assert pipe.read() == b""
    os.close(pipe.source)


async def test_a_reader_that_is_gone_is_told(pipe: Pipe) -> None:
    os.close(pipe.source)
    async with pipe.sink:
        with trio.fail_after(5), pytest.raises(trio.BrokenResourceError):
            await pipe.sink.send_all(b"a line\n")


async def test_whoever_is_cancelled_writes_nothing(pipe: Pipe) -> None:
    async with pipe.sink:
        with cancelled():
            await pipe.sink.send_all(b"a line\n")
    assert pipe.read() == b""
    os.close(pipe.source)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe's size is what it is")
def test_a_pipe_is_made_to_hold_much() -> None:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    try:
        widen(source)
        assert os.write(sink, bytes(2 * PIPE)) == PIPE
    finally:
        os.close(source)
        os.close(sink)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe's size is what it is")
def test_a_pipe_that_holds_more_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "PIPE", 4096)
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    try:
        widen(source)
        assert os.write(sink, bytes(10_000)) == 10_000
    finally:
        os.close(source)
        os.close(sink)


def test_what_is_no_pipe_is_left_as_it_is(tmp_path: Path) -> None:
    with (tmp_path / "a file").open("wb") as file:
        widen(file.fileno())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        widen(ours.fileno())


async def test_files_that_cannot_be_polled_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Windows has no `os.set_blocking` before Python 3.12, and polls nothing."""
    (tmp_path / "in").write_bytes(b"hello")
    fds = os.open(tmp_path / "in", os.O_RDONLY), os.open(tmp_path / "out", os.O_CREAT | os.O_WRONLY)
    monkeypatch.setattr(stdio, "_take_over", lambda: fds)
    monkeypatch.delattr(os, "set_blocking")
    with trio.fail_after(5):
        async with stdio.open_stdio() as (source, sink):
            await sink.send_all(await source.receive_some())
    assert (tmp_path / "out").read_bytes() == b"hello"

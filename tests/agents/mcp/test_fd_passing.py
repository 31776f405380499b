from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

from agents.mcp.fd_passing import Handover

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there sockets carry only bytes")


@attrs.frozen
class Relay:
    """Has pipes of its own to an agent, and says things to a handover."""

    handover: Handover
    socket: socket.socket
    input: int
    to_input: int
    from_output: int
    output: int

    async def say(self, words: bytes, fds: Sequence[int] = ()) -> bytes:
        socket.send_fds(self.socket, [words], fds)
        return await self.handover.receive(100)


@asynccontextmanager
async def relay() -> AsyncGenerator[Relay]:
    ours, theirs = socket.socketpair()
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    pipes = (*os.pipe(), *os.pipe())
    with trio.fail_after(5), theirs:
        async with stream:
            handover = Handover(stream)
            try:
                yield Relay(handover, theirs, *pipes)
            finally:
                handover.close()
                for fd in pipes:
                    os.close(fd)


async def test_both_ends_of_an_agents_conversation_are_taken_over() -> None:
    async with relay() as one:
        assert await one.say(b"a token", [one.input, one.output]) == b"a token"
        agent = one.handover.take()
        assert agent is not None
        async with agent:
            os.write(one.to_input, b"a question")
            assert await agent.receive_some() == b"a question"
            await agent.send_all(b"an answer")
            assert os.read(one.from_output, 100) == b"an answer"
        assert one.handover.take() is None


async def test_they_may_come_one_after_the_other() -> None:
    async with relay() as one:
        assert await one.say(b"a to", [one.input]) == b"a to"
        assert one.handover.take() is None
        assert await one.say(b"ken", [one.output]) == b"ken"
        agent = one.handover.take()
        assert agent is not None
        await agent.aclose()


async def test_who_hands_over_nothing_is_heard() -> None:
    async with relay() as one:
        assert await one.say(b"a token") == b"a token"
        assert one.handover.take() is None
        one.socket.shutdown(socket.SHUT_WR)
        assert await one.handover.receive(100) == b""


async def test_a_file_is_not_taken_over(tmp_path: Path) -> None:
    async with relay() as one:
        with (tmp_path / "file").open("wb") as file:
            await one.say(b"x", [one.input, file.fileno()])
        assert one.handover.take() is None


async def test_children_do_not_inherit_what_was_handed_over() -> None:
    async with relay() as one:
        await one.say(b"x", [one.input, one.output])
        fds = one.handover._fds  # pyright: ignore[reportPrivateUsage]  # nothing else tells
        assert len(fds) == 2
        assert not any(os.get_inheritable(fd) for fd in fds)


async def test_a_relay_that_breaks_off_is_a_broken_stream() -> None:
    async with relay() as one:
        stream = one.handover._stream  # pyright: ignore[reportPrivateUsage]  # to have a say, unread
        await stream.send_all(b"x")
        one.socket.close()
        with pytest.raises(trio.BrokenResourceError):
            await one.handover.receive(100)


async def test_over_the_loopback_there_are_only_bytes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, trio.fail_after(5):
        ours = socket.create_connection(listening.getsockname())
        theirs, _ = listening.accept()
        with theirs:
            async with trio.SocketStream(trio.socket.from_stdlib_socket(ours)) as stream:
                handover = Handover(stream)
                theirs.sendall(b"a token")
                assert await handover.receive(100) == b"a token"
                assert handover.take() is None

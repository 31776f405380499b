from __future__ import annotations

import contextlib
import json

import anyio
import attrs
import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import JSONRPCNotification
from trio.testing import wait_all_tasks_blocked

from agents.mcp.outgoing import Outgoing


@attrs.define(eq=False)
class Sink:
    """Takes at once what it has room for, and the rest when somebody reads."""

    room: int = 1_000_000
    is_read: bool = True
    reader: trio.Semaphore = attrs.field(factory=lambda: trio.Semaphore(0))
    """Once for each write that waits."""
    written: bytearray = attrs.field(factory=bytearray)

    def write_now(self, data: bytes) -> int:
        taken = data[: self.room]
        self.room -= len(taken)
        self.written += taken
        return len(taken)

    async def send(self, data: bytes) -> bool:
        await self.reader.acquire()
        if self.is_read:
            self.written += data
        return self.is_read

    def heard(self) -> list[str]:
        return [json.loads(line)["method"] for line in self.written.splitlines()]


def note(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=f"n{number}"))


async def test_what_there_is_room_for_is_written_before_anybody_else_has_a_turn() -> None:
    sink = Sink()
    with trio.fail_after(5):
        await Outgoing(sink).send(note(1))  # nothing runs that could write it later
    assert sink.heard() == ["n1"]


@pytest.mark.parametrize("room", [0, 1, 40])
async def test_what_there_is_no_room_for_comes_later_whole_and_in_order(room: int) -> None:
    sink, until = Sink(room), anyio.CancelScope()
    outgoing = Outgoing(sink)
    sent: list[int] = []

    async def send(number: int) -> None:
        await outgoing.send(note(number))
        sent.append(number)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.run, until)
            for number in range(3):
                nursery.start_soon(send, number)
                await wait_all_tasks_blocked()
            sink.room = 1_000
            nursery.start_soon(send, 3)
            await wait_all_tasks_blocked()
            assert 3 not in sent, "though there would be room for it now"
            for _ in range(4):
                sink.reader.release()
            await wait_all_tasks_blocked()
            assert sorted(sent) == [0, 1, 2, 3]
            await outgoing.aclose()
    assert sink.heard() == ["n0", "n1", "n2", "n3"]
    assert until.cancel_called


async def test_who_is_stopped_while_it_waits_leaves_no_half_line_behind() -> None:
    sink = Sink(room=5)
    outgoing = Outgoing(sink)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.run, anyio.CancelScope())
            with trio.move_on_after(0):
                await outgoing.send(note(1))
            for _ in range(2):
                sink.reader.release()
            await wait_all_tasks_blocked()
            sink.room = 1_000
            await outgoing.send(note(2))
            await outgoing.aclose()
    assert sink.heard() == ["n1", "n2"]


async def test_what_waits_when_it_is_closed_is_written() -> None:
    sink, until = Sink(room=0), anyio.CancelScope()
    outgoing = Outgoing(sink)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.send, note(1))
            await wait_all_tasks_blocked()
            async with outgoing:
                pass
            with pytest.raises(anyio.ClosedResourceError):
                await outgoing.send(note(2))
            sink.reader.release()
            await outgoing.run(until)
    assert sink.heard() == ["n1"]
    assert until.cancel_called


async def test_everything_ends_when_nobody_reads() -> None:
    sink, until = Sink(room=0, is_read=False), anyio.CancelScope()
    outgoing = Outgoing(sink)
    sink.reader.release()
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.send, note(1))
            await outgoing.run(until)
    assert until.cancel_called
    with pytest.raises(anyio.ClosedResourceError):
        await outgoing.send(note(2))


async def test_nobody_waits_for_a_writer_that_was_stopped() -> None:
    """The library waits a whole second for its last answers otherwise."""
    outgoing = Outgoing(Sink(room=0))
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.send, note(1))
            async with trio.open_nursery() as writer:
                writer.start_soon(outgoing.run, anyio.CancelScope())
                await wait_all_tasks_blocked()
                writer.cancel_scope.cancel()
    with pytest.raises(anyio.ClosedResourceError):
        await outgoing.send(note(2))


@pytest.mark.limit("agents.mcp.outgoing.MOST_UNSENT_BYTES")
async def test_an_agent_that_asks_and_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink, until = Sink(0), anyio.CancelScope()
    size = len(json.dumps({"method": "n1", "jsonrpc": "2.0"}, separators=(",", ":"))) + 1
    monkeypatch.setattr("agents.mcp.outgoing.MOST_UNSENT_BYTES", 3 * size)
    outgoing = Outgoing(sink)

    async def run() -> None:
        with until:
            await outgoing.run(until)

    async def send(number: int) -> None:
        with contextlib.suppress(anyio.ClosedResourceError):
            await outgoing.send(note(number))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            for number in range(3):
                nursery.start_soon(send, number)
            await wait_all_tasks_blocked()
            assert not until.cancel_called
            with pytest.raises(anyio.ClosedResourceError):
                await outgoing.send(note(3))
    assert until.cancel_called

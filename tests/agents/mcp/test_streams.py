from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence

import anyio
import attrs
import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import JSONRPCNotification
from trio.testing import wait_all_tasks_blocked

from agents.events import ToolAnswer
from agents.mcp.server import EditorServer, ReportProgress
from agents.mcp.streams import (
    MOST_BATCH,
    MOST_BATCH_VALUES,
    MOST_VALUES,
    McpReceiveStream,
    Outgoing,
    Unread,
    messages,
)
from agents.mcp.tools import JSON, ToolCatalogue
from bridge.jsonrpc import TooLong
from bridge.wire import ToolSpec
from bridge.work import done

from .client import connected


@attrs.define(eq=False)
class Wire:
    """Says what it is told to."""

    says: list[list[bytes | TooLong]]

    async def receive(self) -> Sequence[bytes | TooLong] | None:
        await trio.lowlevel.checkpoint()
        return self.says.pop(0) if self.says else None


@attrs.define(eq=False)
class Tool:
    """A tool of the editor's, `read_file`, that is done at once."""

    calls: list[JSON] = attrs.field(factory=list[JSON])

    async def call(self, _name: str, arguments: JSON, _report: ReportProgress) -> ToolAnswer:
        await trio.lowlevel.checkpoint()
        self.calls.append(arguments)
        return ToolAnswer("", "done")


def serving(tool: Tool | None = None) -> EditorServer:
    catalogue = ToolCatalogue.of([ToolSpec("read_file")], "vscx")
    return EditorServer("vscx", "1.0", catalogue, (tool or Tool()).call)


def note(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","method":"n%d"}' % number


async def test_messages_come_in_order_however_the_lines_came() -> None:
    answers, answered = anyio.create_memory_object_stream[SessionMessage](0)
    wire = Wire([[note(1), note(2)], [], [b"[%b,%b]" % (note(3), note(4))], [note(5)]])
    with trio.fail_after(5), answers, answered:
        async with McpReceiveStream(wire, answers) as incoming:
            read = [one.message async for one in incoming]
    assert [m.method for m in read if isinstance(m, JSONRPCNotification)] == [
        f"n{number}" for number in range(1, 6)
    ]


async def test_what_is_no_message_is_answered_before_the_next_one_is_read() -> None:
    answers, answered = anyio.create_memory_object_stream[SessionMessage](1)
    incoming = McpReceiveStream(Wire([[b"nonsense", note(1)]]), answers)
    with trio.fail_after(5), answers, answered:
        await incoming.receive()
        assert "this is not JSON" in str((await answered.receive()).message)
        with pytest.raises(anyio.EndOfStream):
            await incoming.receive()


async def test_lines_that_are_no_messages_are_answered_and_the_rest_goes_on(
    autojump_clock: object,
) -> None:
    async with connected(serving()) as client:
        await client.introduce()
        await client.stream.send_all(b"\xff\xfe nonsense\n")
        assert (await client.answer(None))["error"]["code"] == -32700
        await client.send({"jsonrpc": "1.0"}, 7)
        assert (await client.answer(None))["error"]["code"] == -32600
        assert (await client.answer(None))["error"]["code"] == -32600
        await client.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}})
        await wait_all_tasks_blocked()
        assert await client.ask("ping") == {}
    assert not client.unexpected


async def test_a_text_that_is_cut_inside_a_character_costs_only_the_character(
    autojump_clock: object,
) -> None:
    tool = Tool()
    async with connected(serving(tool)) as client:
        await client.introduce()
        await client.call("read_file", text="half \ud83d")  # json.dumps writes the escape
    assert tool.calls == [{"text": "half \ufffd"}]


@pytest.mark.parametrize(
    ("odd", "taken"),
    [
        (b'"half \xed\xa0\x80"', "half \ufffd\ufffd\ufffd"),
        (b'"\xff"', "\ufffd"),
        (b"[" * 150 + b"1" + b"]" * 150, None),
        (b"[" * 600 + b"1" + b"]" * 600, None),
        (b"7" * 4300, int("7" * 4300)),
    ],
    ids=["half a character", "no UTF-8", "deep", "deeper", "digits"],
)
async def test_an_odd_argument_can_be_passed_on(
    odd: bytes, taken: object, autojump_clock: object
) -> None:
    tool = Tool()
    async with connected(serving(tool)) as client:
        await client.introduce()
        call = b'{"jsonrpc":"2.0","id":91,"method":"tools/call","params":%s}\n'
        params = b'{"name":"read_file","arguments":{"a":%s}}' % odd
        await client.stream.send_all(call % params)
        await client.answer(91)
        assert await client.ask("ping") == {}
    assert tool.calls == ([] if taken is None else [{"a": taken}])
    assert msgspec.json.encode(tool.calls)


async def test_a_batch_is_answered_one_by_one(autojump_clock: object) -> None:
    async with connected(serving(), "2025-03-26") as client:
        await client.introduce()
        await client.send([client.message("ping", id=91), client.message("ping", id=92)])
        assert (await client.answer(92))["result"] == {}
        assert (await client.answer(91))["result"] == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[%b]" % b",".join([b"1"] * (MOST_BATCH + 1)), "at most 100 messages"),
        (b" [%b]" % b",".join([b"1"] * 100_000), "a batch may have at most 10,000 values"),
        (b'{"a":[%b]}' % b",".join([b"1"] * MOST_VALUES), "at most 50,000 values"),
    ],
    ids=["messages", "numbers", "no batch"],
)
def test_what_is_too_much_has_one_answer(line: bytes, words: str) -> None:
    (unread,) = done(messages(line))
    assert isinstance(unread, Unread)
    assert words in unread.answer.error.message


@pytest.mark.limit("agents.mcp.streams.MOST_BATCH")
def test_a_batch_may_have_so_many_messages() -> None:
    read = done(messages(b"[%b]" % b",".join([note(1)] * MOST_BATCH)))
    assert len(read) == MOST_BATCH
    assert not any(isinstance(one, Unread) for one in read)
    assert len(done(messages(b"[%b]" % b",".join([note(1)] * (MOST_BATCH + 1))))) == 1


@pytest.mark.limit("agents.mcp.streams.MOST_BATCH_VALUES")
def test_the_values_of_a_batch_are_counted_together() -> None:
    call = b'{"jsonrpc":"2.0","method":"n","params":{"a":[%b]}}'
    fits = b"[%b]" % (call % b",".join([b"1"] * (MOST_BATCH_VALUES - 6)))
    assert not isinstance(done(messages(fits))[0], Unread)
    over = b"[%b]" % (call % b",".join([b"1"] * (MOST_BATCH_VALUES - 5)))
    assert isinstance(done(messages(over))[0], Unread)


@pytest.mark.limit("agents.mcp.streams.MOST_VALUES")
def test_a_message_may_have_so_many_values() -> None:
    call = b'{"jsonrpc":"2.0","method":"n","params":{"a":[%b]}}'
    fits = call % b",".join([b"1"] * (MOST_VALUES - 5))
    assert not isinstance(done(messages(fits))[0], Unread)
    over = call % b",".join([b"1"] * (MOST_VALUES - 4))
    assert isinstance(done(messages(over))[0], Unread)


def test_a_text_may_hold_any_number_of_brackets() -> None:
    line = b'{"jsonrpc":"2.0","method":"n","params":{"a":"%b"}}' % (b'[,{\\"' * 2 * MOST_VALUES)
    assert not isinstance(done(messages(line))[0], Unread)


@given(st.binary(max_size=200))
def test_no_line_is_too_odd_to_be_read(line: bytes) -> None:
    assert all(message is not None for message in done(messages(line)))


def test_a_line_that_was_too_long_is_told() -> None:
    (unread,) = done(messages(TooLong(7)))
    assert isinstance(unread, Unread)
    assert "7 bytes" in unread.answer.error.message


def test_a_line_that_is_too_deep_is_told() -> None:
    (unread,) = done(messages(b"[" * 100_000))
    assert isinstance(unread, Unread)


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_a_fuzzed_connection_still_serves(lines: list[bytes]) -> None:
    async def main() -> None:
        async with connected(serving()) as client:
            await client.introduce()
            for line in lines:
                await client.stream.send_all(line.replace(b"\n", b"") + b"\n")
            assert await client.ask("ping") == {}

    trio.run(main)


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


def notification(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=f"n{number}"))


async def test_what_there_is_room_for_is_written_before_anybody_else_has_a_turn() -> None:
    sink = Sink()
    with trio.fail_after(5):
        await Outgoing(sink).send(notification(1))  # nothing runs that could write it later
    assert sink.heard() == ["n1"]


@pytest.mark.parametrize("room", [0, 1, 40])
async def test_what_there_is_no_room_for_comes_later_whole_and_in_order(room: int) -> None:
    sink, until = Sink(room), anyio.CancelScope()
    outgoing = Outgoing(sink)
    sent: list[int] = []

    async def send(number: int) -> None:
        await outgoing.send(notification(number))
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
                await outgoing.send(notification(1))
            for _ in range(2):
                sink.reader.release()
            await wait_all_tasks_blocked()
            sink.room = 1_000
            await outgoing.send(notification(2))
            await outgoing.aclose()
    assert sink.heard() == ["n1", "n2"]


async def test_what_waits_when_it_is_closed_is_written() -> None:
    sink, until = Sink(room=0), anyio.CancelScope()
    outgoing = Outgoing(sink)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.send, notification(1))
            await wait_all_tasks_blocked()
            async with outgoing:
                pass
            with pytest.raises(anyio.ClosedResourceError):
                await outgoing.send(notification(2))
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
            nursery.start_soon(outgoing.send, notification(1))
            await outgoing.run(until)
    assert until.cancel_called
    with pytest.raises(anyio.ClosedResourceError):
        await outgoing.send(notification(2))


async def test_nobody_waits_for_a_writer_that_was_stopped() -> None:
    """The library waits a whole second for its last answers otherwise."""
    outgoing = Outgoing(Sink(room=0))
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outgoing.send, notification(1))
            async with trio.open_nursery() as writer:
                writer.start_soon(outgoing.run, anyio.CancelScope())
                await wait_all_tasks_blocked()
                writer.cancel_scope.cancel()
    with pytest.raises(anyio.ClosedResourceError):
        await outgoing.send(notification(2))


@pytest.mark.limit("agents.mcp.streams.MOST_UNSENT_BYTES")
async def test_an_agent_that_asks_and_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink, until = Sink(0), anyio.CancelScope()
    size = len(json.dumps({"method": "n1", "jsonrpc": "2.0"}, separators=(",", ":"))) + 1
    monkeypatch.setattr("agents.mcp.streams.MOST_UNSENT_BYTES", 3 * size)
    outgoing = Outgoing(sink)

    async def run() -> None:
        with until:
            await outgoing.run(until)

    async def send(number: int) -> None:
        with contextlib.suppress(anyio.ClosedResourceError):
            await outgoing.send(notification(number))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            for number in range(3):
                nursery.start_soon(send, number)
            await wait_all_tasks_blocked()
            assert not until.cancel_called
            with pytest.raises(anyio.ClosedResourceError):
                await outgoing.send(notification(3))
    assert until.cancel_called

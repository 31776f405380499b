"""The connection, with an agent that is typed by hand."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
import trio
from trio.testing import MemoryReceiveStream, MemorySendStream, wait_all_tasks_blocked

from agents import breather
from agents.acp.options import Choices
from agents.acp.rpc.connection import CHUNK, Connection
from agents.acp.rpc.subscribers import MOST_EARLY, MOST_EARLY_BYTES
from agents.acp.schema.content import TextContent
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import (
    CLOSE_SESSION,
    NEW_SESSION,
    CloseSessionRequest,
    EmptyResponse,
    NewSessionRequest,
    NewSessionResponse,
    SelectedPermissionOutcome,
)
from agents.acp.schema.updates import AgentMessageChunk
from agents.acp.session_channel import (
    HIGH_WATER,
    HIGH_WATER_BYTES,
    MOST_LATE_BYTES,
    MOST_QUESTIONS,
    NEWS_OVERHEAD,
    PermissionRequested,
    SessionChannel,
)
from agents.base import AgentError
from bridge.errors import INVALID_REQUEST, Failure

JSON = dict[str, Any]
GONE = Failure("AgentFailed", "it is gone", "status 3", "last words")
CLOSE = CloseSessionRequest("s")
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]


@attrs.define(eq=False)
class Wire:
    """The agent's side."""

    connection: Connection
    source: MemoryReceiveStream
    sink: MemorySendStream
    ended: trio.Event = attrs.field(factory=trio.Event)

    async def say(self, *messages: JSON | str | bytes) -> None:
        """Say lines in one piece, and let them be heard."""
        await self.write(b"".join(line(message) for message in messages))

    async def write(self, data: bytes) -> None:
        """Write bytes."""
        self.source.put_data(data)
        await quiet()

    async def heard(self) -> list[JSON]:
        """Return what the client has said since the last time."""
        await quiet()
        try:
            lines = bytes(self.sink.get_data_nowait())
        except trio.WouldBlock:
            return []
        return [json.loads(line) for line in lines.splitlines()]

    def channel(self, session_id: str = "s") -> SessionChannel:
        """Return a session that hears what is said of it."""
        channel = SessionChannel(self.connection, session_id, Choices())
        self.connection.subscribers.attach(session_id, channel)
        return channel


async def quiet() -> None:
    with trio.fail_after(5):
        await wait_all_tasks_blocked()


def line(message: JSON | str | bytes) -> bytes:
    if isinstance(message, bytes):
        return message + b"\n"
    if isinstance(message, str):
        return message.encode() + b"\n"
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def chunk(text: str, session: str = "s") -> JSON:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return {"method": "session/update", "params": {"sessionId": session, "update": update}}


def ask(id_: int | str | None, session: str = "s") -> JSON:
    params = {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": OPTIONS}
    return {"id": id_, "method": "session/request_permission", "params": params}


def texts(channel: SessionChannel) -> list[str]:
    return [
        one.content.text
        for one in channel.take()
        if isinstance(one, AgentMessageChunk) and isinstance(one.content, TextContent)
    ]


@asynccontextmanager
async def connected() -> AsyncGenerator[Wire, None]:
    """Connect; on exit the agent's output ends, and the connection with it."""
    source, sink = MemoryReceiveStream(), MemorySendStream()
    wire = Wire(Connection("agent", source, sink), source, sink)

    async def run() -> None:
        await wire.connection.run()
        wire.ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        yield wire
        source.put_eof()
        with trio.fail_after(5):
            await wire.ended.wait()


def take_into(answers: list[Any]) -> Any:
    return answers.append


# Lines.


@pytest.mark.parametrize(
    "noise",
    [
        "Loaded cached credentials.",
        "\x1b[?25l",
        "[1, 2]",
        "[]",
        "null",
        '"text"',
        "{}",
        '{"jsonrpc": "2.0"}',
        "",
        "   ",
        b"\xff\xfe\x00",
        b"{" * 5_000,
    ],
)
@pytest.mark.checklist(8)
async def test_what_is_no_message_is_skipped(noise: str | bytes) -> None:
    """Point 8: a bad line never ends the conversation, nor costs what stands beside it."""
    async with connected() as wire:
        channel = wire.channel()
        await wire.say(chunk("a"), noise, chunk("b"))
        assert texts(channel) == ["a", "b"]


@pytest.mark.checklist(8)
async def test_line_ends_of_windows_and_batches_are_taken() -> None:
    """Point 8."""
    async with connected() as wire:
        channel = wire.channel()
        batch = json.dumps([chunk("b"), chunk("c")])
        await wire.write(line(chunk("a"))[:-1] + b"\r\n\r\n" + batch.encode() + b"\r\n")
        assert texts(channel) == ["a", "b", "c"]


@pytest.mark.checklist(9)
async def test_a_line_is_taken_whatever_pieces_it_comes_in() -> None:
    """Point 9: no limit of 64 KiB, and no text lost at the edges of a read."""
    text = "é" * 300_000
    async with connected() as wire:
        channel = wire.channel()
        whole = line(chunk(text)) + line(chunk("after"))
        for start in range(0, len(whole), 65_521):
            await wire.write(whole[start : start + 65_521])
        assert texts(channel) == [text, "after"]


async def test_an_oddity_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with connected() as wire:
        for _ in range(3):
            await wire.say("noise", {"method": "session/x"}, {"method": "show"})
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 3


async def test_an_extension_is_answered_and_is_nothing_odd(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The protocol lets anybody make names that begin with an underscore; Qwen leaves it out."""
    async with connected() as wire:
        with caplog.at_level(logging.DEBUG, "vscodelm.acp"):
            await wire.say({"method": "_x/status"}, {"id": 7, "method": "_x/ask"})
            await wire.say({"method": "x/notify/session/mode-update"})
        assert [record.levelno for record in caplog.records] == [logging.DEBUG] * 3
        (answer,) = await wire.heard()
        assert (answer["id"], answer["error"]["code"]) == (7, -32601)


@pytest.mark.limit("agents.acp.rpc.connection._MOST_TOLD")
async def test_only_so_many_oddities_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with connected() as wire:
        await wire.say(*({"method": f"session/{number}"} for number in range(101)))
    assert len(caplog.records) == 100


# Requests of ours.


async def test_a_request_gets_its_answer() -> None:
    async with connected() as wire:
        answers: list[Any] = []
        wire.connection.call(CLOSE_SESSION, CLOSE, take_into(answers))
        (request,) = await wire.heard()
        assert request == {
            "jsonrpc": "2.0",
            "id": request["id"],
            "method": "session/close",
            "params": {"sessionId": "s"},
        }
        await wire.say({"id": request["id"], "result": {}})
        assert answers == [EmptyResponse()]


@pytest.mark.parametrize("answer", [{"result": None}, {}, {"result": {}, "error": None}])
@pytest.mark.checklist(10)
async def test_nothing_is_an_answer_like_any_other(answer: JSON) -> None:
    """Point 10: neither result nor error is a null result."""
    async with connected() as wire:
        answers: list[Any] = []
        id_ = wire.connection.call(CLOSE_SESSION, CLOSE, take_into(answers))
        await wire.say({"id": id_, **answer})
        assert answers == [EmptyResponse()]


@pytest.mark.checklist(10)
async def test_answers_that_nobody_waits_for_are_ignored() -> None:
    """Point 10: late, unknown and duplicate responses."""
    async with connected() as wire:
        answers: list[Any] = []
        id_ = wire.connection.call(CLOSE_SESSION, CLOSE, take_into(answers))
        done: JSON = {"id": id_, "result": {}}
        await wire.say(done, done, {"id": 99, "result": {}}, {"id": None, "error": {"code": 1}})
        await wire.say({"id": "text", "result": {}}, {"id": str(id_), "result": {}})
        assert answers == [EmptyResponse()]


@pytest.mark.parametrize("result", [{}, {"sessionId": 3}, "text", [1]])
async def test_an_answer_that_makes_no_sense_is_an_error(result: Any) -> None:
    async with connected() as wire:
        answers: list[Any] = []
        request = NewSessionRequest("/", ())
        id_ = wire.connection.call(NEW_SESSION, request, take_into(answers))
        await wire.say({"id": id_, "result": result})
        (answer,) = answers
        assert isinstance(answer, Error)
        assert "session/new" in answer.message


async def test_a_request_that_is_given_up_is_taken_back_and_its_late_answer_ignored() -> None:
    """Point 10, and `$/cancel_request` our way."""
    async with connected() as wire:
        with trio.move_on_after(0.01):
            await wire.connection.request(CLOSE_SESSION, CLOSE)
        request, taken_back = await wire.heard()
        assert taken_back["method"] == "$/cancel_request"
        assert taken_back["params"] == {"requestId": request["id"]}
        assert "id" not in taken_back
        await wire.say({"id": request["id"], "result": {}})


@pytest.mark.checklist(4)
async def test_every_request_fails_when_the_agent_is_gone() -> None:
    """Point 4: those that wait, and those that come later."""
    async with connected() as wire:
        answers: list[Any] = []
        wire.connection.call(CLOSE_SESSION, CLOSE, take_into(answers))
        wire.connection.call(CLOSE_SESSION, CLOSE, take_into(answers))
        wire.connection.fail(GONE)
        wire.connection.fail(Failure("AgentFailed", "again"))
        assert answers == [GONE, GONE]
        with pytest.raises(AgentError) as caught:
            await wire.connection.request(CLOSE_SESSION, CLOSE)
        assert caught.value.failure == GONE


# Requests of the agent's.


@pytest.mark.parametrize(
    "method",
    ["fs/read_text_file", "fs/write_text_file", "terminal/create", "_x/y", "elicitation/x"],
)
@pytest.mark.parametrize("id_", [0, 7, "seven", None])
@pytest.mark.checklist(11)
async def test_a_request_that_we_don_t_serve_is_refused_at_once(
    method: str, id_: int | str | None
) -> None:
    """Points 10 and 11: -32601 always, with the id as it came."""
    async with connected() as wire:
        await wire.say({"id": id_, "method": method, "params": None})
        (answer,) = await wire.heard()
        assert answer["id"] == id_
        assert answer["error"]["code"] == -32601


@pytest.mark.checklist(11)
async def test_notifications_that_we_don_t_know_are_ignored() -> None:
    """Point 11."""
    async with connected() as wire:
        channel = wire.channel()
        await wire.say({"method": "_x/y", "params": {}}, {"method": "other"}, chunk("a"))
        assert await wire.heard() == []
        assert texts(channel) == ["a"]


async def test_a_permission_request_that_makes_no_sense_is_refused() -> None:
    async with connected() as wire:
        await wire.say({"id": 1, "method": "session/request_permission", "params": {"options": []}})
        (answer,) = await wire.heard()
        assert answer["error"]["code"] == -32602


@pytest.mark.checklist(32)
async def test_a_permission_request_of_an_unknown_session_is_answered() -> None:
    """Point 25: a request that is never answered wedges real agents."""
    async with connected() as wire:
        await wire.say(ask(1, "unknown"))
        (answer,) = await wire.heard()
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}


@pytest.mark.limit("agents.acp.rpc.news.MOST_QUESTIONS")
async def test_an_agent_has_only_so_many_permission_requests_open() -> None:
    async with connected() as wire:
        channel = wire.channel()
        channel.prompt((TextContent("x"),))
        await wire.heard()
        await wire.say(*(ask(number) for number in range(MOST_QUESTIONS)))
        assert await wire.heard() == []
        await wire.say(ask(MOST_QUESTIONS))
        (answer,) = await wire.heard()
        assert (answer["id"], answer["error"]["code"]) == (MOST_QUESTIONS, INVALID_REQUEST)
        channel.answer(0, SelectedPermissionOutcome("yes"))
        await wire.say(ask(0))
        (answer,) = await wire.heard()
        assert answer["result"]["outcome"]["outcome"] == "selected"
        assert (
            len([one for one in channel.take() if isinstance(one, PermissionRequested)])
            == MOST_QUESTIONS + 1
        )


@pytest.mark.parametrize("id_", [5, None])
async def test_an_id_of_an_open_permission_request_is_refused_in_every_session(
    id_: int | None,
) -> None:
    """Or the answer of one chat's user would be taken for another's."""
    async with connected() as wire:
        for session in ("s", "other"):
            wire.channel(session).prompt((TextContent("x"),))
        await wire.heard()
        await wire.say(ask(id_), ask(id_), ask(id_, "other"))
        answers = await wire.heard()
        assert [one["id"] for one in answers] == [id_, id_]
        assert {one["error"]["code"] for one in answers} == {INVALID_REQUEST}


async def test_a_permission_request_may_be_taken_back() -> None:
    """`$/cancel_request` the agent's way: answered as cancelled, once."""
    async with connected() as wire:
        channel = wire.channel()
        channel.prompt((TextContent("x"),))
        await wire.heard()
        back = {"method": "$/cancel_request", "params": {"requestId": 5}}
        await wire.say(ask(5), back, back)
        assert [one for one in channel.take() if isinstance(one, PermissionRequested)] != []
        channel.answer(5, SelectedPermissionOutcome("yes"))
        (answer,) = await wire.heard()
        assert answer == {
            "jsonrpc": "2.0",
            "id": 5,
            "result": {"outcome": {"outcome": "cancelled"}},
        }
        await wire.say({"method": "$/cancel_request", "params": {}})
        assert await wire.heard() == []


# Sessions.


async def test_what_is_said_comes_in_order_and_to_its_session() -> None:
    async with connected() as wire:
        one, other = wire.channel("one"), wire.channel("other")
        said = [chunk(str(n), "one" if n % 3 else "other") for n in range(100)]
        await wire.say(*said)
        assert texts(one) == [str(n) for n in range(100) if n % 3]
        assert texts(other) == [str(n) for n in range(0, 100, 3)]


@pytest.mark.checklist(12)
async def test_an_update_before_the_answer_to_session_new_is_kept() -> None:
    """Point 12: also when both come in one read."""
    async with connected() as wire:
        opened: list[SessionChannel] = []

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            assert isinstance(answer, NewSessionResponse)
            opened.append(wire.channel(answer.session_id))

        wire.connection.open(NEW_SESSION, NewSessionRequest("/", ()), take)
        (request,) = await wire.heard()
        await wire.say(chunk("early ", "new"), chunk("other", "another"))
        answer = {"id": request["id"], "result": {"sessionId": "new"}}
        await wire.say(chunk("earlier ", "new"), answer, chunk("late", "new"))
        assert texts(opened[0]) == ["early ", "earlier ", "late"]
        late = wire.channel("another")
        assert texts(late) == []


@pytest.mark.limit("agents.acp.rpc.subscribers.MOST_EARLY")
@pytest.mark.checklist(12)
async def test_what_is_kept_of_unknown_sessions_is_bounded() -> None:
    """Point 12."""
    async with connected() as wire:
        wire.connection.open(NEW_SESSION, NewSessionRequest("/", ()), lambda answer: None)
        await wire.say(*[chunk(".", f"s{n % 7}") for n in range(2 * MOST_EARLY)])
        channels = [wire.channel(f"s{n}") for n in range(7)]
        assert sum(len(texts(channel)) for channel in channels) == MOST_EARLY


async def test_updates_of_unknown_sessions_are_dropped_when_none_is_being_opened() -> None:
    async with connected() as wire:
        await wire.say(chunk("x", "unknown"))
        assert texts(wire.channel("unknown")) == []


@pytest.mark.parametrize("params", [None, {}, {"sessionId": "s"}, {"sessionId": 3, "update": {}}])
async def test_an_update_that_makes_no_sense_is_skipped(params: Any) -> None:
    async with connected() as wire:
        channel = wire.channel()
        await wire.say(chunk("a"), {"method": "session/update", "params": params}, chunk("b"))
        assert texts(channel) == ["a", "b"]


@pytest.mark.limit("agents.acp.session_channel.HIGH_WATER")
async def test_an_agent_that_says_more_than_is_taken_is_not_read() -> None:
    """Backpressure: the reader waits for a turn that is being received, and only for that."""
    async with connected() as wire:
        slow, other = wire.channel("slow"), wire.channel("other")
        slow.receive()
        await wire.say(*[chunk(".", "slow") for _ in range(HIGH_WATER + 1)])
        await wire.say(chunk("x", "other"))
        assert texts(other) == []
        slow.take()
        await quiet()
        assert texts(other) == ["x"]
        await wire.say(*[chunk(".", "slow") for _ in range(HIGH_WATER + 1)])
        slow.pause()
        await wire.say(chunk("y", "other"))
        assert texts(other) == ["y"]


@pytest.mark.limit("agents.acp.session_channel.HIGH_WATER_BYTES")
@pytest.mark.parametrize(("number", "is_read"), [(1, True), (2, False)])
async def test_an_agent_that_says_longer_things_than_are_taken_is_not_read(
    number: int, is_read: bool
) -> None:
    async with connected() as wire:
        slow, other = wire.channel("slow"), wire.channel("other")
        slow.receive()
        for _ in range(number):
            await wire.say(chunk("x" * (HIGH_WATER_BYTES // 2), "slow"))
        await wire.say(chunk("y", "other"))
        assert texts(other) == ["y"] * is_read
        slow.pause()
        await quiet()


@pytest.mark.limit("agents.acp.session_channel.MOST_UNREAD_BYTES")
@pytest.mark.parametrize(("over", "is_lost"), [(0, False), (1, True)])
async def test_what_an_agent_says_while_the_user_is_asked_is_bounded(
    monkeypatch: pytest.MonkeyPatch, over: int, is_lost: bool
) -> None:
    """The turn is given up: the reader can't wait for the user, others use the same process."""
    async with connected() as wire:
        channel, other = wire.channel(), wire.channel("other")
        channel.prompt(())
        await wire.say(ask(7))
        (asked,) = channel.take()
        assert isinstance(asked, PermissionRequested)
        await wire.heard()
        piece = chunk("x" * 1_000)
        size = len(json.dumps(piece["params"])) + NEWS_OVERHEAD
        monkeypatch.setattr("agents.acp.session_channel.MOST_UNREAD_BYTES", 10 * size - over)
        await wire.say(*[piece] * 10)
        await wire.say(chunk("y", "other"))
        assert texts(other) == ["y"]
        told = [one.get("method") or one["result"] for one in await wire.heard()]
        cancelled = {"outcome": {"outcome": "cancelled"}}
        assert told == (["session/cancel", cancelled] if is_lost else [])
        assert len(texts(channel)) == (0 if is_lost else 10)
        assert channel.is_prompted
        assert (channel.lost is not None) is is_lost
        await wire.say(piece, ask(8), {"id": 1, "result": {"stopReason": "cancelled"}})
        assert not channel.is_prompted
        assert (channel.take() == []) is is_lost


@pytest.mark.parametrize("window", [1_000_000, -(10**12), 10**18])
async def test_the_size_of_the_context_is_not_taken_for_the_size_of_a_message(window: int) -> None:
    """Of a window of a million tokens 17 updates would be 16 MiB; a negative one would undo all."""
    async with connected() as wire:
        channel = wire.channel()
        channel.prompt(())
        await wire.say(ask(7))
        update = {"sessionUpdate": "usage_update", "used": 1, "size": window}
        usage = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
        await wire.say(*[usage] * 20)
        assert channel.lost is None
        assert len(channel.take()) == 21
        assert channel.window.tokens == (window if window > 0 else None)
        await wire.say({"id": 1, "result": {"stopReason": "end_turn"}})
        channel.take()
        await wire.say(usage, *[chunk("x" * (MOST_LATE_BYTES // 2))] * 3)
        assert len(channel.take()) == 3


@pytest.mark.limit("agents.acp.session_channel.MOST_LATE_BYTES")
async def test_long_updates_that_come_late_are_dropped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected() as wire:
        channel = wire.channel()
        with caplog.at_level(logging.INFO, "vscodelm.acp"):
            for _ in range(5):
                await wire.say(chunk("x" * (MOST_LATE_BYTES // 2)))
            channel.prompt(())
        assert len(texts(channel)) == 2
        assert caplog.messages == [
            "session=s dropped late=AgentMessageChunk",
            "session=s dropped late updates=3",
        ]


@pytest.mark.limit("agents.acp.rpc.subscribers.MOST_EARLY_BYTES")
async def test_long_updates_of_unknown_sessions_are_bounded() -> None:
    async with connected() as wire:
        wire.connection.open(NEW_SESSION, NewSessionRequest("/", ()), lambda answer: None)
        await wire.say(*[chunk("x" * (MOST_EARLY_BYTES // 2)) for _ in range(4)])
        assert len(texts(wire.channel())) == 2


@pytest.mark.limit("agents.acp.rpc.connection.MOST_UNSENT_BYTES")
@pytest.mark.parametrize("over", [0, 1])
async def test_an_agent_that_asks_and_does_not_read_is_ended(
    monkeypatch: pytest.MonkeyPatch, over: int
) -> None:
    async with connected() as wire:
        channel = wire.channel()

        async def nobody_reads() -> None:
            await trio.sleep_forever()

        wire.sink.send_all_hook = nobody_reads
        unknown: JSON = {"id": 1, "method": "fs/read_text_file", "params": {}}
        await wire.say(unknown)
        size = wire.connection.unread_answers
        monkeypatch.setattr("agents.acp.rpc.connection.MOST_UNSENT_BYTES", 10 * size)
        await wire.say(*[unknown] * (9 + over))
        assert wire.connection.unread_answers == 10 * size
        if over:
            with trio.fail_after(5):
                await wire.ended.wait()
            assert channel.lost is not None
            assert "doesn't read the answers" in channel.lost.message
        else:
            assert channel.lost is None


async def test_a_large_prompt_that_is_on_its_way_does_not_count_as_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What another chat of the same process asks meanwhile is answered after it."""
    monkeypatch.setattr("agents.acp.rpc.connection.MOST_UNSENT_BYTES", 1_000)
    read = trio.Event()
    async with connected() as wire:
        wire.sink.send_all_hook = read.wait
        wire.channel().prompt((TextContent("x" * 2_000),))
        await wire.say({"id": 1, "method": "fs/read_text_file", "params": {}})
        assert wire.connection.failure is None
        read.set()
        assert [one["id"] for one in await wire.heard()] == [1, 1]
        assert wire.connection.unread_answers == 0


@pytest.mark.limit("agents.acp.rpc.subscribers.MOST_LEFT")
async def test_the_ids_of_sessions_that_ended_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.acp.rpc.subscribers.MOST_LEFT", 3)
    async with connected() as wire:
        for number in range(4):
            wire.channel(f"{number}")
            wire.connection.subscribers.detach(f"{number}")
        channel = SessionChannel(wire.connection, "new", Choices())
        subscribers = wire.connection.subscribers
        assert [subscribers.attach_new(f"{number}", channel) for number in range(4)] == [
            True,
            False,
            False,
            False,
        ]


# The end.


@pytest.mark.checklist(7)
async def test_a_broken_pipe_ends_the_conversation() -> None:
    """Point 7: it takes the path of a crash; what the agent still says is heard."""
    async with connected() as wire:
        channel = wire.channel()
        wire.sink.close()
        wire.connection.call(CLOSE_SESSION, CLOSE, lambda answer: None)
        await wire.say(chunk("last words"))
        with trio.fail_after(5):
            await wire.ended.wait()
        assert texts(channel) == ["last words"]


async def test_a_source_that_breaks_ends_the_conversation() -> None:
    source, sink = MemoryReceiveStream(), MemorySendStream()
    connection = Connection("agent", source, sink)
    source.close()
    with trio.fail_after(5):
        await connection.run()


@pytest.mark.checklist(7)
async def test_many_requests_share_a_write() -> None:
    """Point 7: one writer, so lines never mix."""
    async with connected() as wire:
        for n in range(50):
            request = CloseSessionRequest("x" * n)
            wire.connection.call(CLOSE_SESSION, request, lambda answer: None)
        requests = await wire.heard()
        assert [len(request["params"]["sessionId"]) for request in requests] == list(range(50))
        assert len({request["id"] for request in requests}) == 50


async def test_the_order_stays_where_others_have_their_turn_after_a_long_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breather, "WORK_SECONDS", 0.0)
    async with connected() as wire:
        said = ["a", "b" * 2 * CHUNK, "c"]
        channel = wire.channel()
        await wire.say(*map(chunk, said))
        assert texts(channel) == said

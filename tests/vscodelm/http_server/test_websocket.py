"""Responses over a WebSocket, by a client of another library's."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio
from starlette.websockets import WebSocket
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.frame_protocol import CloseReason

from tests.fakes.http_face import PATIENCE, TOKEN, Face, open_face, text_of
from tests.fakes.waiting import until
from vscodelm.http_server import serving
from vscodelm.http_server.websocket import MOST_WAITING, talk

if TYPE_CHECKING:
    from starlette.types import Message


@attrs.define(eq=False)
class Talk:
    stream: trio.SocketStream
    socket: WSConnection

    async def receive(self) -> Any:
        """Return the next event of the connection."""
        while True:
            for event in self.socket.events():
                return event
            self.socket.receive_data(await self.stream.receive_some() or None)

    async def send(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        await self.stream.send_all(self.socket.send(TextMessage(text)))

    async def answer(self, given: Any, **fields: Any) -> dict[str, Any]:
        """Return the last event of a response; all before it must be numbered."""
        await self.send({"type": "response.create", "model": "eliza", "input": given, **fields})
        return await self.last()

    async def last(self) -> dict[str, Any]:
        text, number = "", 0
        while True:
            event = await self.receive()
            assert isinstance(event, TextMessage)
            text += event.data
            if not event.message_finished:
                continue
            message, text = json.loads(text), ""
            assert message["sequence_number"] == number
            number += 1
            if message["type"] in (
                "response.completed",
                "response.failed",
                "response.incomplete",
                "error",
            ):
                return message


@asynccontextmanager
async def talking(face: Face, token: str = TOKEN) -> AsyncGenerator[Talk]:
    stream = await trio.open_tcp_stream("127.0.0.1", face.address.port)
    socket = WSConnection(ConnectionType.CLIENT)
    headers = [(b"Authorization", f"Bearer {token}".encode())]
    host = f"127.0.0.1:{face.address.port}"
    request = Request(host=host, target="/v1/responses", extra_headers=headers)
    with trio.fail_after(PATIENCE):
        async with stream:
            await stream.send_all(socket.send(request))
            yield Talk(stream, socket)


@asynccontextmanager
async def open_talk(face: Face) -> AsyncGenerator[Talk]:
    async with talking(face) as talk:
        assert isinstance(await talk.receive(), AcceptConnection)
        yield talk


async def test_responses_come_one_after_the_other(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face, open_talk(face) as talk:
        first = (await talk.answer("My dog ate the homework."))["response"]
        second = (await talk.answer("Hm.", previous_response_id=first["id"]))["response"]
        await talk.send({"type": "response.create", "model": "eliza", "input": "a"})
        await talk.send({"type": "response.create", "model": "eliza", "input": "b"})
        assert [(await talk.last())["type"] for _ in "ab"] == ["response.completed"] * 2
        assert (await face.get(f"responses/{second['id']}")).json() == second
    assert "dog" in text_of(second)


async def test_only_the_connection_knows_the_newest_response_that_is_not_kept(
    tmp_path: Path,
) -> None:
    async with open_face(tmp_path) as face:
        async with open_talk(face) as talk:
            first = (await talk.answer("My dog ate the homework.", store=False))["response"]
            fields = {"store": False, "previous_response_id": first["id"]}
            second = (await talk.answer("Hm.", **fields))["response"]
            assert "dog" in text_of(second)
            old = await talk.answer("Hm.", **fields)
            assert old["error"]["code"] == "previous_response_not_found"
            newest = {"store": False, "previous_response_id": second["id"]}
            after_an_error = await talk.answer("Hm.", **newest)
            assert after_an_error["error"]["code"] == "previous_response_not_found"
        async with open_talk(face) as talk:
            gone = await talk.answer("Hm.", previous_response_id=second["id"])
            assert gone["error"]["code"] == "previous_response_not_found"


async def test_what_is_kept_after_what_is_not_has_all_of_it(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        async with open_talk(face) as talk:
            first = (await talk.answer("My dog ate the homework.", store=False))["response"]
            second = (await talk.answer("I see.", previous_response_id=first["id"]))["response"]
        third = await face.respond("Hm.", previous_response_id=second["id"])
    assert "dog" in text_of(third)


async def test_wrong_messages_are_errors_and_the_connection_goes_on(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face, open_talk(face) as talk:
        for wrong in ("{", "[]", '{"type": "response.cancel"}', '{"type": "response.create"}'):
            await talk.send(wrong)
            error = await talk.last()
            assert (error["type"], error["status"]) == ("error", 400)
        failed = await talk.answer("!error")
        assert failed["type"] == "error" or failed["response"]["status"] == "failed"
        await talk.stream.send_all(talk.socket.send(BytesMessage(b"\xff")))
        await until(lambda: True)


async def test_a_message_of_many_small_values_is_refused(tmp_path: Path) -> None:
    values = ",".join(["[]"] * 600_000)
    async with open_face(tmp_path) as face, open_talk(face) as talk:
        await talk.send(f'{{"type": "response.create", "model": "eliza", "input": [{values}]}}')
        error = await talk.last()
        assert (error["status"], error["error"]["code"]) == (413, "request_too_large")
        assert (await talk.answer("Hello!"))["type"] == "response.completed"


@pytest.mark.limit("vscodelm.http_server.websocket.MOST_WAITING")
async def test_a_ninth_message_waits_outside_while_an_answer_is_written(tmp_path: Path) -> None:
    class Socket(WebSocket):
        taken = 0

        async def receive(self) -> Message:
            message = await super().receive()
            self.taken += message["type"] == "websocket.receive"
            return message

    async def receive() -> Message:
        return {"type": "websocket.connect"} if not sent else {**given}

    async def send(message: Message) -> None:
        sent.append(message)

    sent: list[Message] = []
    text = json.dumps({"type": "response.create", "model": "eliza", "input": "!hang"})
    given = {"type": "websocket.receive", "text": text}
    async with open_face(tmp_path) as face:
        socket = Socket({"type": "websocket"}, receive, send)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(talk, face.answering, socket)
                # One is being answered, and one has been read and waits for room.
                await until(lambda: socket.taken == MOST_WAITING + 2)
                await until(lambda: len(face.answering.port.replies) == 1)
                for _ in range(100):
                    await trio.lowlevel.checkpoint()
                assert socket.taken == MOST_WAITING + 2
                nursery.cancel_scope.cancel()


async def test_a_client_that_leaves_cancels_its_answer(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        async with open_talk(face) as talk:
            await talk.send({"type": "response.create", "model": "eliza", "input": "!hang"})
            await talk.receive()
        with trio.fail_after(PATIENCE):
            await until(lambda: not face.answering.port.replies)


async def test_a_wrong_token_is_not_let_in(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face, talking(face, "wrong") as talk:
        refused = await talk.receive()
        assert isinstance(refused, RejectConnection)
        assert refused.status_code == 401
        body = await talk.receive()
        assert json.loads(body.data)["error"]["code"] == "invalid_api_key"


@pytest.mark.limit("vscodelm.http_server.serving.MOST_MESSAGE_BYTES")
async def test_a_message_that_is_too_long_closes_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_MESSAGE_BYTES", 1_000)
    async with open_face(tmp_path) as face, open_talk(face) as talk:
        assert (await talk.answer("x" * 900))["type"] == "response.completed"
        await talk.send("x" * 1_001)
        closed = await talk.receive()
    assert isinstance(closed, CloseConnection)
    assert closed.code == CloseReason.MESSAGE_TOO_BIG

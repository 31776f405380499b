"""Responses over a WebSocket, one after the other. The newest is known even if it isn't kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio
from starlette.websockets import WebSocketDisconnect

from agents.breather import Breather

from .answering import Answering, ShortMemory
from .api_error import ApiError, bad_request
from .body import ResponseBody, check_values, decoded, read_body

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

MOST_WAITING = 8
"""Messages of a client that wait while an answer is written."""


class _Typed(msgspec.Struct):
    type: str | None = None


_decode_type = msgspec.json.Decoder(_Typed).decode


async def talk(answering: Answering, socket: WebSocket) -> None:
    """Answer the requests of a connection until its client leaves."""
    await socket.accept()
    send_message, messages = trio.open_memory_channel[str](MOST_WAITING)
    memory = ShortMemory()

    async def read() -> None:
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                text = message.get("text")
                await send_message.send(text if text is not None else message["bytes"].decode())
        except (WebSocketDisconnect, UnicodeDecodeError):
            pass
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        async for message in messages:
            try:
                await _respond(answering, socket, memory, message)
            except ApiError as error:
                memory.forget()
                event = {"type": "error", "sequence_number": 0, "status": error.status}
                await _send(socket, msgspec.json.encode({**event, "error": error.payload}))


async def _respond(
    answering: Answering, socket: WebSocket, memory: ShortMemory, message: str
) -> None:
    body = await _read(message)
    query = await answering.query(body, memory)
    writer = answering.writer(body, query, frames=False)

    async def send(lines: bytes) -> None:
        for line in lines.splitlines():
            await _send(socket, line)

    with answering.place():
        answer = await answering.begin(query, writer)
        await answering.pump(answer, send, memory)


async def _send(socket: WebSocket, line: bytes) -> None:
    await socket.send({"type": "websocket.send", "text": line.decode()})


async def _read(message: str) -> ResponseBody:
    raw = message.encode()
    await Breather().do(check_values(raw))
    kind = decoded(_decode_type, raw).type
    if kind != "response.create":
        raise bad_request(f"Only response.create can be sent, and this is {kind!r}.", "type")
    return read_body(raw)

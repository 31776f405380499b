"""A model server on the loopback device, which speaks every dialect of the agents we test with.

It keeps every request, so that a test can look at what the model was given. A stream without an end
goes on until its reader leaves, and that is kept, too.

    async with model_server() as server:
        ... an agent is told `server.url` ...
        (turn,) = server.turns("RECALL")
        assert turn.given.names == ["Ada"]
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import attrs
import h11
import trio

from .dialects import chat_completions, gemini, messages, responses
from .scenario import Forever, Given, Scenario, scenario_for

JSON = dict[str, Any]
PAUSE = 0.02
"""Seconds between two pieces of a stream without an end."""
PATIENCE = 30.0

DIALECTS: dict[str, tuple[Callable[[JSON], Given], Callable[[Scenario, int], Iterator[bytes]]]] = {
    module.PATH: (module.read, module.write)
    for module in (chat_completions, gemini, messages, responses)
}
MODELS: JSON = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 1}]}

log = logging.getLogger("tests.model_server")


@attrs.define(eq=False)
class ModelTurn:
    """A request for the model's reply, and what became of it."""

    given: Given
    scenario: Scenario
    body: JSON = attrs.field(repr=False)
    is_left: bool = False
    """Whether the agent went away before the end."""


@attrs.define(eq=False)
class ModelServer:
    """What was asked of the server, in order."""

    port: int
    keep: Callable[[JSON], object] = lambda event: None
    """Is given what happens, when it does: each request for a reply, and each that was left."""
    asked: list[ModelTurn] = attrs.field(factory=list[ModelTurn], init=False)
    unknown: list[str] = attrs.field(factory=list[str], init=False)
    """What it was asked for and doesn't have."""
    _numbers: Iterator[int] = attrs.field(factory=lambda: count(1), init=False)
    _changed: trio.lowlevel.ParkingLot = attrs.field(
        factory=trio.lowlevel.ParkingLot, init=False, repr=False
    )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def turns(self, scenario: str) -> list[ModelTurn]:
        """Return the requests that a scenario answered."""
        return [turn for turn in self.asked if turn.scenario.name == scenario]

    async def reaches(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so that a request changes."""
        with trio.fail_after(PATIENCE):
            while not is_so():
                await self._changed.park()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer the one request of a connection."""
        speech = h11.Connection(h11.SERVER)
        try:
            request, body = await _read(speech, stream)
            if request is not None:
                await self._answer(speech, stream, request, body)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            log.debug("a client left")
        finally:
            await trio.aclose_forcefully(stream)

    async def _answer(
        self, speech: h11.Connection, stream: trio.SocketStream, request: h11.Request, body: bytes
    ) -> None:
        method = request.method.decode()
        path = request.target.decode().partition("?")[0]
        dialect = next((known for end, known in DIALECTS.items() if path.endswith(end)), None)
        if method == "POST" and path.endswith(messages.COUNT_PATH):
            await _send(speech, stream, messages.count_tokens(json.loads(body)))
        elif method == "POST" and path.endswith(gemini.SIDE_PATH):
            await _send(speech, stream, gemini.side_answer(json.loads(body)))
        elif method == "POST" and dialect is not None:
            read, write = dialect
            asked: JSON = json.loads(body)
            given = read(asked)
            turn = ModelTurn(given, scenario_for(given), asked)
            self.asked.append(turn)
            key = dict(request.headers).get(b"x-api-key", b"").decode()
            self.keep({"scenario": turn.scenario.name, "body": asked, "key": key})
            self._changed.unpark_all()
            if turn.scenario.status != 200:
                error = {"type": "api_error", "message": "The model is on fire"}
                await _send(speech, stream, {"error": error}, status=turn.scenario.status)
            elif dialect is DIALECTS[chat_completions.PATH] and not asked.get("stream"):
                await self._whole(speech, stream, turn)
            else:
                events = write(turn.scenario, next(self._numbers))
                await self._stream(speech, stream, turn, events)
        elif method == "GET" and path.endswith("/models"):
            await _send(speech, stream, MODELS)
        elif method == "HEAD":
            await _send(speech, stream, None)
        else:
            self.unknown.append(f"{method} {path}")
            await _send(speech, stream, {"error": {"message": "not found"}}, status=404)

    async def _whole(
        self, speech: h11.Connection, stream: trio.SocketStream, turn: ModelTurn
    ) -> None:
        """Answer in one piece; a reply without an end never comes."""
        try:
            while any(isinstance(step, Forever) for step in turn.scenario.steps):
                if await stream.receive_some() == b"":
                    raise trio.BrokenResourceError
            answer = chat_completions.write_whole(turn.scenario, next(self._numbers))
            await _send(speech, stream, answer)
        except trio.BrokenResourceError:
            self._is_left(turn)

    async def _stream(
        self,
        speech: h11.Connection,
        stream: trio.SocketStream,
        turn: ModelTurn,
        events: Iterator[bytes],
    ) -> None:
        is_endless = any(isinstance(step, Forever) for step in turn.scenario.steps)
        try:
            await stream.send_all(_head(speech, 200, "text/event-stream"))
            for event in events:
                await stream.send_all(speech.send(h11.Data(event)) or b"")
                if is_endless:
                    await trio.sleep(PAUSE)
            await stream.send_all(speech.send(h11.EndOfMessage()) or b"")
        except trio.BrokenResourceError:
            self._is_left(turn)

    def _is_left(self, turn: ModelTurn) -> None:
        turn.is_left = True
        self.keep({"left": turn.scenario.name})
        self._changed.unpark_all()


def _head(speech: h11.Connection, status: int, kind: str, *more: tuple[str, str]) -> bytes:
    headers = [("content-type", kind), ("connection", "close"), *more]
    return speech.send(h11.Response(status_code=status, headers=headers)) or b""


async def _send(
    speech: h11.Connection, stream: trio.SocketStream, answer: JSON | None, *, status: int = 200
) -> None:
    content = b"" if answer is None else json.dumps(answer).encode()
    head = _head(speech, status, "application/json", ("content-length", str(len(content))))
    data = speech.send(h11.Data(content)) if content else b""
    await stream.send_all(head + (data or b"") + (speech.send(h11.EndOfMessage()) or b""))


async def _read(
    speech: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request | None, bytes]:
    """Return the request and its body; no request where the client leaves without one."""
    request: h11.Request | None = None
    body = bytearray()
    while True:
        match speech.next_event():
            case h11.Request() as request:
                pass
            case h11.Data(data=data):
                body += data
            case h11.EndOfMessage():
                return request, bytes(body)
            case h11.ConnectionClosed():
                return None, b""
            case _:  # it needs more
                if speech.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    await stream.send_all(speech.send(go_on) or b"")
                speech.receive_data(await stream.receive_some())


@asynccontextmanager
async def model_server(**fields: Any) -> AsyncGenerator[ModelServer, None]:
    """Serve a model until the block ends."""
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server = ModelServer(listeners[0].socket.getsockname()[1], **fields)
        nursery.start_soon(trio.serve_listeners, server.serve, listeners)
        yield server
        nursery.cancel_scope.cancel()

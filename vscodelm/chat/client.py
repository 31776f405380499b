"""The other end of the wire: asks for models and answers as an editor does.

Sending never waits: a separate task writes the lines of an outbox. So a cancelled caller can't cut
a line in two. Answers go to the caller of their request. Parts go through a channel of size 0, so a
reader that is slow holds up the server, and with it the agent.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TypeVar

import attrs
import msgspec
import trio
from msgspec import Raw

from actors.outbox import Outbox
from bridge import methods
from bridge.errors import RpcError
from bridge.jsonrpc import LineSplitter, notification_line, request_line
from bridge.version import own_version
from bridge.wire import (
    CancelParams,
    Capabilities,
    ChatParams,
    ClientInfo,
    InitializeParams,
    InitializeResult,
    Part,
    ProgressParams,
    RequestId,
)

from .replies import (
    BadReply,
    OtherNotification,
    PartOf,
    RequestSettled,
    ServerMessage,
    parse_reply,
)

LEAVING_SECONDS = 11.0
"""Seconds that a server may take to end after its input ended; it gives itself ten."""

T = TypeVar("T")
log = logging.getLogger("vscodelm.chat.client")


class ServerGone(Exception):
    """The server ended, or broke the protocol; it answers no open request."""


@attrs.define(eq=False, repr=False)
class _Call:
    """An open request, and its outcome."""

    parts: trio.MemorySendChannel[Part] | None = None
    settled: trio.Event = attrs.field(factory=trio.Event, init=False)
    outcome: Raw | Exception | None = attrs.field(default=None, init=False)

    def settle(self, outcome: Raw | Exception) -> None:
        self.outcome = outcome
        self.settled.set()
        if self.parts is not None:
            self.parts.close()

    def result(self) -> Raw:
        """Return the result; raises what the request failed with."""
        assert self.outcome is not None, "the request is still open"
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@attrs.frozen(eq=False, repr=False)
class ResponseStream:
    """The parts of an answer, as they come; the end of the iteration raises the request's error."""

    id: RequestId
    _call: _Call
    _parts: trio.MemoryReceiveChannel[Part]

    def __aiter__(self) -> ResponseStream:
        return self

    async def __anext__(self) -> Part:
        try:
            return await self._parts.receive()
        except trio.EndOfChannel:
            self._call.result()
            raise StopAsyncIteration from None


@attrs.define(eq=False, repr=False)
class Client:
    """One connection to a server; made by `open_connection`."""

    _tell: Callable[[ProgressParams], None] | None = None
    """Shows how far something is that takes long."""
    _outbox: Outbox = attrs.field(factory=Outbox, init=False)
    _open: dict[RequestId, _Call] = attrs.field(factory=dict["RequestId", _Call], init=False)
    _ids: count[int] = attrs.field(factory=lambda: count(1), init=False)
    _gone: ServerGone | None = attrs.field(default=None, init=False)

    async def request(self, method: str, params: msgspec.Struct, result: type[T]) -> T:
        """Ask for something and return it; raises `RpcError` or `ServerGone`."""
        request, call = self._begin(method, params, _Call())
        try:
            await call.settled.wait()
            return msgspec.json.decode(call.result(), type=result)
        finally:
            self._open.pop(request, None)

    @asynccontextmanager
    async def chat(self, params: ChatParams) -> AsyncGenerator[ResponseStream]:
        """Ask for an answer; one that is left before its end is cancelled."""
        parts, received = trio.open_memory_channel[Part](0)
        request, call = self._begin(methods.CHAT, params, _Call(parts))
        try:
            yield ResponseStream(request, call, received)
        finally:
            received.close()
            if not call.settled.is_set():
                self.cancel(request)
            self._open.pop(request, None)

    def cancel(self, request: RequestId) -> None:
        """Ask for no more of an answer. It still ends by itself, soon."""
        self._outbox.put(notification_line(methods.CANCEL, CancelParams(request)))

    async def initialize(self) -> InitializeResult:
        """Say who we are and what we can show."""
        me = ClientInfo("vscodelm-chat", own_version())
        shown = Capabilities(thinking=True, usage=True, progress=self._tell is not None)
        params = InitializeParams(me, shown)
        return await self.request(methods.INITIALIZE, params, InitializeResult)

    def _begin(self, method: str, params: msgspec.Struct, call: _Call) -> tuple[RequestId, _Call]:
        if self._gone is not None:
            raise self._gone
        request = next(self._ids)
        self._open[request] = call
        self._outbox.put(request_line(request, method, params))
        return request, call

    # The connection's tasks.

    async def write(self, sink: trio.abc.SendStream) -> None:
        """Send lines until the outbox is closed, then end the server's input."""
        async with sink:
            await self._outbox.run(sink)

    def finish(self) -> None:
        """Send nothing more."""
        self._outbox.close()

    async def read(self, source: trio.abc.ReceiveStream, why: Callable[[], Awaitable[str]]) -> None:
        """Hand out what arrives until the server is gone; `why` tells the reason."""
        splitter = LineSplitter()
        reason = ""
        async with source:
            try:
                async for chunk in source:
                    for line in splitter.feed(bytes(chunk)):
                        await self._take(parse_reply(line))
            except trio.BrokenResourceError:
                pass  # it is gone all the same
            except BadReply as error:
                reason = f"vscodelm and this chat don't understand each other: {error}"
        self._gone = ServerGone(reason or await why())
        for call in self._open.values():
            call.settle(self._gone)
        self._outbox.close()

    async def _take(self, reply: ServerMessage) -> None:
        match reply:
            case PartOf(request=request, part=part):
                call = self._open.get(request)
                if call is not None and call.parts is not None:
                    # Broken: nobody waits for the rest of this answer any more.
                    with suppress(trio.BrokenResourceError):
                        await call.parts.send(part)
            case RequestSettled(request=request, outcome=outcome):
                call = self._open.pop(request, None)
                if call is not None:
                    call.settle(outcome)
            case ProgressParams():
                if self._tell is not None:
                    self._tell(reply)
            case OtherNotification(method=method):
                log.debug("ignored method=%s", method)


async def _input_ended() -> str:
    await trio.lowlevel.checkpoint()
    return "vscodelm closed the connection."


@asynccontextmanager
async def open_connection(
    source: trio.abc.ReceiveStream,
    sink: trio.abc.SendStream,
    why: Callable[[], Awaitable[str]] = _input_ended,
    patience: float = LEAVING_SECONDS,
    tell: Callable[[ProgressParams], None] | None = None,
) -> AsyncGenerator[Client]:
    """Return a client that said hello; raises `ServerGone` or `RpcError` where that failed.

    `tell` shows how far something is that takes long; without it the server doesn't say.
    At the end the server's input ends, and it has `patience` seconds to end its output.
    """
    client = Client(tell)
    refused: ServerGone | RpcError | None = None
    async with trio.open_nursery() as nursery:
        left = trio.Event()

        async def read() -> None:
            try:
                await client.read(source, why)
            finally:
                left.set()

        nursery.start_soon(read)
        nursery.start_soon(client.write, sink)
        try:
            try:
                await client.initialize()
            except (ServerGone, RpcError) as error:
                refused = error  # raised outside, where no nursery wraps it in a group
            else:
                yield client
        finally:
            client.finish()
            with trio.move_on_after(patience, shield=True):
                await left.wait()
            nursery.cancel_scope.cancel()
    if refused is not None:
        raise refused

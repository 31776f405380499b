"""HTTP/1.1 and HTTP/2 for a server that also breaks their rules, where its plan says so."""

from __future__ import annotations

import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import attrs
import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h11
import trio

if TYPE_CHECKING:
    import ssl

_RECEIVE = 65_536


class HungUp(Exception):
    """The client is gone, or wants no more of this answer."""


class Exchange(Protocol):
    """A request that is to be answered."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    version: str

    async def start(self, status: int, headers: Mapping[str, str]) -> None: ...
    async def write(self, data: bytes) -> None: ...
    async def end(self) -> None: ...

    async def cut(self) -> None:
        """Close without the end that the protocol wants."""
        ...

    async def reset(self) -> None:
        """Reset the connection."""
        ...

    async def watch(self, until: trio.Event) -> None:
        """Wait until the event is set; raises `HungUp` when the client goes."""
        ...


Handler = Callable[[Exchange], Awaitable[None]]


async def serve_http(
    stream: trio.SocketStream, handler: Handler, tls: ssl.SSLContext | None
) -> None:
    """Serve one connection to its end."""
    try:
        if tls is None:
            await _serve_http1(stream, stream, handler)
            return
        secure = trio.SSLStream(stream, tls, server_side=True, https_compatible=True)
        await secure.do_handshake()
        if secure.selected_alpn_protocol() == "h2":
            await _serve_http2(secure, stream, handler)
        else:
            await _serve_http1(secure, stream, handler)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
            await trio.aclose_forcefully(stream)


def _reset(stream: trio.SocketStream) -> None:
    linger = struct.pack("ii", 1, 0)
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    stream.socket.close()


async def _gone(stream: trio.abc.ReceiveStream, until: trio.Event) -> bool:
    """Wait until the other side sends something, which it only does to go, or for the event."""
    is_gone = True
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            nonlocal is_gone
            await until.wait()
            is_gone = False
            nursery.cancel_scope.cancel()

        nursery.start_soon(wait)
        with suppress(trio.BrokenResourceError):
            await stream.receive_some(1)
        nursery.cancel_scope.cancel()
    return is_gone


# HTTP/1.1.


@attrs.define
class _Http1Exchange:
    stream: trio.abc.Stream
    raw: trio.SocketStream
    http: h11.Connection
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    version: str = "HTTP/1.1"

    async def _send(self, event: h11.Event) -> None:
        data = self.http.send(event)
        try:
            await self.stream.send_all(data or b"")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp from None

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        await self._send(h11.Response(status_code=status, headers=[*headers.items()]))

    async def write(self, data: bytes) -> None:
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    async def cut(self) -> None:
        await self.raw.aclose()

    async def reset(self) -> None:
        _reset(self.raw)
        await trio.lowlevel.checkpoint()

    async def watch(self, until: trio.Event) -> None:
        if await _gone(self.stream, until):
            raise HungUp


async def _serve_http1(stream: trio.abc.Stream, raw: trio.SocketStream, handler: Handler) -> None:
    http = h11.Connection(h11.SERVER)
    request: h11.Request | None = None
    body = b""
    while True:
        event = http.next_event()
        match event:
            case h11.NEED_DATA:
                chunk = bytes(await stream.receive_some(_RECEIVE))
                if not chunk:
                    return  # the client has gone, perhaps in the middle of a request
                http.receive_data(chunk)
            case h11.Request():
                request, body = event, b""
            case h11.Data():
                body += bytes(event.data)
            case h11.EndOfMessage():
                assert request is not None
                headers = {key.decode(): value.decode() for key, value in request.headers}
                method, path = request.method.decode(), request.target.decode()
                await handler(_Http1Exchange(stream, raw, http, method, path, headers, body))
                if http.our_state is not h11.DONE:
                    return
                http.start_next_cycle()
            case _:
                return


# HTTP/2.


@attrs.define(eq=False)
class _Http2Connection:
    stream: trio.SSLStream[trio.SocketStream]
    raw: trio.SocketStream
    http: h2.connection.H2Connection
    nursery: trio.Nursery
    handler: Handler
    open: dict[int, _Http2Exchange] = attrs.field(factory=dict[int, "_Http2Exchange"])
    window: trio.Condition = attrs.field(factory=trio.Condition)
    sending: trio.Lock = attrs.field(factory=trio.Lock)

    async def flush(self) -> None:
        async with self.sending:
            try:
                await self.stream.send_all(self.http.data_to_send())
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                raise HungUp from None

    async def run(self) -> None:
        self.http.initiate_connection()
        await self.flush()
        while True:
            try:
                data = await self.stream.receive_some(_RECEIVE)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                data = b""
            if not data:
                break
            for event in self.http.receive_data(data):
                await self._take(event)
            await self.flush()
        for exchange in self.open.values():
            exchange.gone.set()
        async with self.window:
            self.window.notify_all()

    async def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=int(stream_id)):
                headers = {_str(key): _str(value) for key, value in event.headers or []}
                self.open[stream_id] = _Http2Exchange(
                    self, stream_id, headers.pop(":method"), headers.pop(":path"), headers
                )
            case h2.events.DataReceived(stream_id=int(stream_id), data=bytes(data)):
                self.open[stream_id].body += data
                self.http.acknowledge_received_data(event.flow_controlled_length, stream_id)
            case h2.events.StreamEnded(stream_id=int(stream_id)):
                self.nursery.start_soon(self._answer, self.open[stream_id])
            case h2.events.StreamReset(stream_id=int(stream_id)):
                self.open[stream_id].gone.set()
            case _:
                pass
        async with self.window:
            self.window.notify_all()

    async def _answer(self, exchange: _Http2Exchange) -> None:
        await self.handler(exchange)
        self.open.pop(exchange.stream_id, None)


def _str(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()


@attrs.define(eq=False)
class _Http2Exchange:
    connection: _Http2Connection
    stream_id: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""
    version: str = "HTTP/2"
    gone: trio.Event = attrs.field(factory=trio.Event)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        self.connection.http.send_headers(
            self.stream_id, [(":status", str(status)), *headers.items()]
        )
        await self.connection.flush()

    async def write(self, data: bytes) -> None:
        http = self.connection.http
        while data:
            if self.gone.is_set():
                raise HungUp
            try:
                room = min(
                    http.local_flow_control_window(self.stream_id), http.max_outbound_frame_size
                )
            except h2.exceptions.ProtocolError:
                raise HungUp from None
            if room <= 0:
                async with self.connection.window:
                    await self.connection.window.wait()
                continue
            http.send_data(self.stream_id, data[:room])
            await self.connection.flush()
            data = data[room:]

    async def end(self) -> None:
        self.connection.http.end_stream(self.stream_id)
        await self.connection.flush()

    async def cut(self) -> None:
        await self.connection.raw.aclose()

    async def reset(self) -> None:
        self.connection.http.reset_stream(self.stream_id)
        await self.connection.flush()

    async def watch(self, until: trio.Event) -> None:
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                await until.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(wait)
            await self.gone.wait()
            nursery.cancel_scope.cancel()
        if self.gone.is_set():
            raise HungUp


async def _serve_http2(
    stream: trio.SSLStream[trio.SocketStream], raw: trio.SocketStream, handler: Handler
) -> None:
    config = h2.config.H2Configuration(client_side=False)
    async with trio.open_nursery() as nursery:
        http = h2.connection.H2Connection(config)
        await _Http2Connection(stream, raw, http, nursery, handler).run()

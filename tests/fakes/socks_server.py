"""A SOCKS5 server on the loopback interface (RFC 1928, with the passwords of RFC 1929).

It connects every request to `target`, whatever host was asked for, and remembers the hosts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import attrs
import trio

_VERSION, _PASSWORD_VERSION = b"\x05", b"\x01"
_NO_LOGIN, _PASSWORD, _NOTHING_FITS = b"\x00", b"\x02", b"\xff"
_GRANTED, _REFUSED = b"\x00", b"\x02"
_ADDRESS_LENGTHS = {1: 4, 4: 16}


@attrs.define
class SocksServer:
    """The server; `login` is (name, password), if it wants one."""

    target: tuple[str, int]
    login: tuple[str, str] | None = None
    refuses: bool = False
    is_silent: bool = False
    port: int = 0
    asked: list[tuple[str, int]] = attrs.field(factory=list[tuple[str, int]])

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection to its end."""
        try:
            if await self._may_enter(stream):
                await self._connect(stream)
        except (trio.BrokenResourceError, EOFError):
            pass
        finally:
            await trio.aclose_forcefully(stream)

    async def _may_enter(self, stream: trio.SocketStream) -> bool:
        _, count = await _exactly(stream, 2)
        methods = await _exactly(stream, count)
        wanted = _PASSWORD if self.login else _NO_LOGIN
        if wanted not in methods:
            await stream.send_all(_VERSION + _NOTHING_FITS)
            return False
        await stream.send_all(_VERSION + wanted)
        if self.login is None:
            return True
        _, length = await _exactly(stream, 2)
        name = await _exactly(stream, length)
        password = await _exactly(stream, (await _exactly(stream, 1))[0])
        is_right = (name.decode(), password.decode()) == self.login
        await stream.send_all(_PASSWORD_VERSION + (b"\x00" if is_right else b"\x01"))
        return is_right

    async def _connect(self, stream: trio.SocketStream) -> None:
        _, _, _, kind = await _exactly(stream, 4)
        length = _ADDRESS_LENGTHS.get(kind) or (await _exactly(stream, 1))[0]
        host = await _exactly(stream, length)
        port = int.from_bytes(await _exactly(stream, 2))
        named = host.decode() if kind == 3 else ".".join(map(str, host))
        self.asked.append((named, port))
        if self.is_silent:
            await trio.sleep_forever()
        reply = _REFUSED if self.refuses else _GRANTED
        await stream.send_all(_VERSION + reply + b"\x00\x01" + bytes(6))
        if self.refuses:
            return
        async with await trio.open_tcp_stream(*self.target) as other, trio.open_nursery() as both:
            both.start_soon(_pump, stream, other)
            await _pump(other, stream)
            both.cancel_scope.cancel()


async def _exactly(stream: trio.SocketStream, count: int) -> bytes:
    received = b""
    while len(received) < count:
        more = await stream.receive_some(count - len(received))
        if not more:
            raise EOFError
        received += more
    return received


async def _pump(source: trio.SocketStream, sink: trio.SocketStream) -> None:
    async for chunk in source:
        await sink.send_all(chunk)


@asynccontextmanager
async def socks_server(
    target: tuple[str, int],
    login: tuple[str, str] | None = None,
    *,
    refuses: bool = False,
    is_silent: bool = False,
) -> AsyncGenerator[SocksServer]:
    """Run a server; on exit it is gone, with every connection."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    server = SocksServer(target, login, refuses, is_silent, port)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        yield server
        nursery.cancel_scope.cancel()

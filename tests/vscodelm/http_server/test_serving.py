from __future__ import annotations

import json
import socket
import stat
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from vscodelm.http_server import serving as module
from vscodelm.http_server.serving import CannotListen, bound, let_in, serving

needs_unix = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are none here")


@pytest.fixture
def short() -> Generator[Path]:
    """A folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="v") as name:
        yield Path(name)


async def app(scope: Any, _receive: Any, send: Any) -> None:
    if scope["path"] == "/known":
        let_in(scope)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


async def test_a_free_port_is_taken_and_named() -> None:
    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        assert address.url == f"http://127.0.0.1:{address.port}/v1"
        async with serving(app, listening), httpx.AsyncClient() as client:
            assert (await client.get(address.url)).text == "hello"


def test_an_address_of_the_sixth_version_has_brackets() -> None:
    try:
        with bound("[::1]", 0) as (_, address):
            assert address.url == f"http://[::1]:{address.port}/v1"
    except CannotListen:
        pytest.skip("this machine has none")


def test_a_port_that_is_taken_is_refused() -> None:
    with (
        bound("127.0.0.1", 0) as (_, address),
        pytest.raises(CannotListen, match=str(address.port)),
        bound("127.0.0.1", address.port),
    ):
        pass


@needs_unix
async def test_a_unix_socket_is_the_users_alone_and_goes_with_the_server(short: Path) -> None:
    path = short / "s"
    with bound(f"unix:{path}", 0) as (listening, address), trio.fail_after(10):
        assert address.url == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with serving(app, listening), httpx.AsyncClient(transport=transport) as client:
            assert (await client.get("http://localhost/")).text == "hello"
    assert not path.exists()


@needs_unix
def test_a_socket_left_behind_is_replaced_and_nothing_else(short: Path) -> None:
    path = short / "s"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    with bound(f"unix:{path}", 0):
        with pytest.raises(CannotListen, match="another server"), bound(f"unix:{path}", 0):
            pass
        assert path.exists()
    path.write_text("mine")
    with pytest.raises(CannotListen, match="another file"), bound(f"unix:{path}", 0):
        pass
    assert path.read_text() == "mine"
    with pytest.raises(CannotListen), bound(f"unix:{short / 'none' / 's'}", 0):
        pass


def test_a_system_without_unix_sockets_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX", raising=False)
    with pytest.raises(CannotListen, match="no Unix sockets"), bound("unix:/s", 0):
        pass


async def known(port: int) -> trio.SocketStream:
    """Open a connection whose client has shown the token."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(b"GET /known HTTP/1.1\r\nhost: x\r\n\r\n")
    answer = b""
    while not answer.endswith(b"0\r\n\r\n"):
        answer += await stream.receive_some()
    return stream


async def test_the_oldest_stranger_makes_room_and_who_has_the_token_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(module, "REFUSAL_SECONDS", 0.5)
    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        async with serving(app, listening):
            friend = await known(address.port)
            silent = [await trio.open_tcp_stream("127.0.0.1", address.port) for _ in range(2)]
            other = await known(address.port)
            answer = b"".join([bytes(chunk) async for chunk in silent[0]])
            assert answer.startswith(b"HTTP/1.1 429 ")
            another = await known(address.port)
            assert b"".join([bytes(chunk) async for chunk in silent[1]])[:13] == answer[:13]
            for stream in (friend, other, another):
                await stream.send_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
            for stream in (friend, other, another, *silent):
                await stream.aclose()


@pytest.mark.limit(
    "vscodelm.http_server.serving.MOST_CONNECTIONS",
    "vscodelm.http_server.serving.REFUSAL_SECONDS",
)
async def test_one_connection_too_many_is_told_when_to_try_again_and_many_more_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 2)
    monkeypatch.setattr(module, "REFUSAL_SECONDS", 0.5)
    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        async with serving(app, listening):
            first, second = [await known(address.port) for _ in range(2)]
            refused = [await trio.open_tcp_stream("127.0.0.1", address.port) for _ in range(2)]
            closed = await trio.open_tcp_stream("127.0.0.1", address.port)
            streams = [first, second, *refused, closed]
            with suppress(trio.BrokenResourceError):
                assert await closed.receive_some() == b""
            for stream in refused:  # they leave neither, until the server leaves them
                with suppress(trio.BrokenResourceError):
                    await stream.send_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                answer = b"".join([bytes(chunk) async for chunk in stream])
                assert answer.startswith(b"HTTP/1.1 429 ")
                assert b"\r\nretry-after: 5\r\n" in answer
                error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
                assert error["code"] == "too_many_connections"
            await first.send_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await first.receive_some()).startswith(b"HTTP/1.1 200")
            await second.aclose()
            for stream in streams:
                await stream.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
async def test_connections_leave_half_of_the_files_that_a_process_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert module.most_files() > 0
    monkeypatch.setattr(module, "most_files", lambda: 2)
    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        async with serving(app, listening):
            first = await known(address.port)
            second = await trio.open_tcp_stream("127.0.0.1", address.port)
            with suppress(trio.BrokenResourceError):
                assert await second.receive_some() == b""
            await first.send_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await first.receive_some()).startswith(b"HTTP/1.1 200")
            await first.aclose()
            await second.aclose()


@pytest.mark.limit("vscodelm.http_server.serving.STALL_SECONDS")
async def test_a_client_that_reads_nothing_for_long_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "STALL_SECONDS", 0.2)
    gone = trio.Event()

    async def endless(_scope: Any, receive: Any, send: Any) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, receive, nursery.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                piece = {"type": "http.response.body", "body": b"x" * 65_536, "more_body": True}
                await send(piece)

    async def watch(receive: Any, scope: trio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()
        scope.cancel()

    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        async with serving(endless, listening):
            stream = await trio.open_tcp_stream("127.0.0.1", address.port)
            await stream.send_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            await gone.wait()
            await stream.aclose()


async def test_a_failing_connection_ends_no_other() -> None:
    with bound("127.0.0.1", 0) as (listening, address), trio.fail_after(10):
        async with serving(app, listening), httpx.AsyncClient() as client:
            stream = await trio.open_tcp_stream("127.0.0.1", address.port)
            await stream.send_all(b"GET / HTTP/1.1\r\nhost: x\r\nupgrade: \xff\xff\r\n\r\n\0\0")
            await stream.aclose()
            assert (await client.get(address.url)).text == "hello"

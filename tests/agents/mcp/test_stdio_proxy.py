"""The relay as a program, and the listener that it comes in by: real processes, real sockets."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

from agents.mcp import listener as door_module
from agents.mcp import stdio_proxy as relay_module
from agents.mcp.listener import KIND, Kernel, Pass, RelayListener, SocketKind, open_listener
from tests.fakes.waiting import until

KINDS: list[SocketKind] = ["tcp"] if sys.platform == "win32" else ["unix", "tcp"]

pytestmark = pytest.mark.skipif(KIND == "tcp", reason="these tests use POSIX processes")


@attrs.define(eq=False)
class Echo:
    """A server that says everything twice, and counts who came."""

    came: int = 0
    left: int = 0

    async def serve(self, stream: trio.abc.Stream) -> None:
        self.came += 1
        try:
            async for chunk in stream:
                await stream.send_all(chunk * 2)
        finally:
            self.left += 1


@asynccontextmanager
async def relay(
    one: Pass,
    *,
    token: str | None = None,
    arguments: tuple[str, ...] | None = None,
    source: int = subprocess.PIPE,
) -> AsyncGenerator[trio.Process]:
    access = one.access
    given = access.arguments if arguments is None else (*access.arguments[:-1], *arguments)
    own = {variable.name: variable.value for variable in access.environment}
    if token is not None:
        own[relay_module.TOKEN] = token
    process = await trio.lowlevel.open_process(
        [access.program, *given],
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ.get("PATH", ""), **{k: v for k, v in own.items() if v}},
    )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            for end in (process.stdin, process.stdout, process.stderr):
                if end is not None:
                    await end.aclose()


async def say(process: trio.Process, words: bytes) -> None:
    assert process.stdin is not None
    await process.stdin.send_all(words)


async def hear(process: trio.Process, count: int) -> bytes:
    assert process.stdout is not None
    heard = b""
    while len(heard) < count:
        chunk = await process.stdout.receive_some()
        assert chunk, "it ended"
        heard += chunk
    return heard


async def end_of(process: trio.Process) -> tuple[int, str]:
    assert process.stderr is not None
    status = await process.wait()
    return status, b"".join([chunk async for chunk in process.stderr]).decode()


async def refused(one: Pass, token: str | None = None) -> str:
    """Return what a relay that isn't let in says."""
    async with relay(one, token=token) as process:
        status, words = await end_of(process)
        assert status == relay_module.FAILED
        return words


@pytest.mark.parametrize("kind", KINDS)
async def test_bytes_go_both_ways_and_lines_have_no_limit(kind: SocketKind) -> None:
    echo = Echo()
    with trio.fail_after(30):
        async with open_listener(kind) as listener, relay(listener.issue(echo.serve)) as process:
            await say(process, b"ab")
            assert await hear(process, 4) == b"abab"
            async with trio.open_nursery() as nursery:
                nursery.start_soon(say, process, b"x" * 3_000_000)
                assert await hear(process, 6_000_000) == b"x" * 6_000_000
            assert process.stdin is not None
            await process.stdin.aclose()
            assert await end_of(process) == (0, "")
    assert (echo.came, echo.left) == (1, 1)


async def test_no_byte_waits_for_the_relay_to_copy_it() -> None:
    with trio.fail_after(30):
        async with open_listener() as listener, relay(listener.issue(Echo().serve)) as process:
            await say(process, b"a")
            await hear(process, 2)
            os.kill(process.pid, signal.SIGSTOP)
            await say(process, b"b")
            assert await hear(process, 2) == b"bb"


async def test_input_that_cannot_be_waited_for_is_copied(tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"ab")
    with trio.fail_after(30):
        async with open_listener() as listener:
            with file.open("rb") as source:
                async with relay(listener.issue(Echo().serve), source=source.fileno()) as process:
                    assert await hear(process, 4) == b"abab"
                    assert await end_of(process) == (0, "")


async def test_when_the_bridge_ends_so_does_the_relay() -> None:
    with trio.fail_after(30):
        async with open_listener() as listener:
            one = listener.issue(Echo().serve)
            async with relay(one) as process:
                await say(process, b"a")
                await hear(process, 2)
                one.revoke()
                assert await end_of(process) == (0, "")


async def test_a_relay_that_dies_is_followed_by_another() -> None:
    echo = Echo()
    with trio.fail_after(30):
        async with open_listener() as listener:
            one = listener.issue(echo.serve)
            async with relay(one) as process:
                await say(process, b"a")
                await hear(process, 2)
                os.kill(process.pid, signal.SIGKILL)
                async with relay(one) as second:
                    await say(second, b"b")
                    assert await hear(second, 2) == b"bb"
    assert (echo.came, echo.left) == (2, 2)


async def test_a_second_relay_beside_the_first_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(door_module, "SUCCESSION_SECONDS", 0.05)
    with trio.fail_after(30):
        async with open_listener() as listener:
            one = listener.issue(Echo().serve)
            async with relay(one) as first:
                await say(first, b"a")
                await hear(first, 2)
                assert "another process uses these tools" in await refused(one)
                await say(first, b"c")
                assert await hear(first, 2) == b"cc"


async def test_a_token_opens_its_own_session_only() -> None:
    one, other = Echo(), Echo()
    with trio.fail_after(30):
        async with open_listener() as listener:
            listener.issue(one.serve)
            async with relay(listener.issue(other.serve)) as process:
                await say(process, b"a")
                await hear(process, 2)
    assert (one.came, other.came) == (0, 1)


@pytest.mark.parametrize("token", ["0" * 64, "x", "\u00fc", "y" * 1000])
async def test_a_wrong_token_lets_nobody_in(token: str) -> None:
    echo = Echo()
    with trio.fail_after(30):
        async with open_listener() as listener:
            words = await refused(listener.issue(echo.serve), token)
    assert "the editor's tools are not available" in words
    assert "token isn't valid" in words
    assert echo.came == 0


async def test_a_token_ends_with_its_session() -> None:
    with trio.fail_after(30):
        async with open_listener() as listener:
            one = listener.issue(Echo().serve)
            one.revoke()
            one.revoke()
            assert "the chat may be over" in await refused(one)


async def test_what_waits_when_the_session_ends_is_not_let_in() -> None:
    echo = Echo()
    with trio.fail_after(30):
        async with open_listener() as listener:
            one = listener.issue(echo.serve)
            async with relay(one) as first:
                await say(first, b"a")
                await hear(first, 2)
                async with relay(one) as second:
                    line = one._turnstile  # pyright: ignore[reportPrivateUsage]  # who stands there
                    await until(lambda: line.statistics().tasks_waiting == 1)
                    one.revoke()
                    status, _ = await end_of(second)
                    assert status == relay_module.FAILED
    assert echo.came == 1


async def test_a_missing_token_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with trio.fail_after(30):
        async with open_listener() as listener:
            assert "environment variable" in await refused(listener.issue(Echo().serve), "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("unix:/nowhere/s",), "can't reach the bridge at unix:/nowhere/s"),
        (("tcp:1",), "can't reach the bridge"),
        (("what:1",), "unix:PATH or tcp:PORT"),
        (("tcp:x",), "wrong arguments"),
        ((), "wrong arguments"),
    ],
)
async def test_it_says_what_failed(arguments: tuple[str, ...], words: str) -> None:
    with trio.fail_after(30):
        async with (
            open_listener() as listener,
            relay(listener.issue(Echo().serve), arguments=arguments) as process,
        ):
            status, said = await end_of(process)
    assert status == relay_module.FAILED
    assert words in said


@asynccontextmanager
async def strange_bridge(*steps: bytes | None) -> AsyncGenerator[str]:
    """Listen as a bridge that says these words to whoever shows a token, and ends; None waits."""
    with tempfile.TemporaryDirectory() as folder, trio.socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/s"
        await listener.bind(path)
        listener.listen()

        async def serve() -> None:
            stream, _ = await listener.accept()
            with stream:
                await stream.recv(1000)
                for words in steps:
                    if words is None:
                        await stream.recv(1, socket.MSG_PEEK)  # what the agent says stays unread
                    else:
                        await stream.send(words)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            yield f"unix:{path}"


@pytest.mark.parametrize(
    ("steps", "status", "said", "words"),
    [
        ((), relay_module.FAILED, b"", "the bridge closed the connection. Does it still run?"),
        ((b"ok",), relay_module.FAILED, b"", "the bridge closed the connection"),
        ((b"no such luck\n",), relay_module.FAILED, b"", "refused the connection: such luck"),
        ((b"ok\n", None, b"last words"), relay_module.BROKEN, b"last words", "connection broke"),
    ],
)
async def test_a_bridge_that_dies_leaves_no_relay_and_is_told_of(
    steps: tuple[bytes | None, ...], status: int, said: bytes, words: str
) -> None:
    with trio.fail_after(30):
        async with open_listener() as listener, strange_bridge(*steps) as address:
            one = listener.issue(Echo().serve)
            async with relay(one, arguments=(address,)) as process:
                await say(process, b"x" * 1000)
                assert await hear(process, len(said)) == said
                ended, told = await end_of(process)
    assert ended == status
    assert words in told
    assert told.count("\n") == 1


async def test_only_this_user_can_reach_the_socket_and_nothing_is_left_of_it() -> None:
    async with open_listener("unix") as listener:
        path = listener.address.removeprefix("unix:")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
        assert len(path) < 100
    assert not await trio.Path(path).parent.exists()


async def test_another_users_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    echo = Echo()
    monkeypatch.setattr(door_module, "_own_uid", lambda: os.geteuid() + 1)
    with trio.fail_after(30):
        async with open_listener("unix") as listener:
            assert "is another user's" in await refused(listener.issue(echo.serve))
    assert echo.came == 0


async def test_a_process_of_which_the_kernel_does_not_say_whose_it_is_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on macOS, if its answer became another one."""
    kernel = door_module._KERNEL  # pyright: ignore[reportPrivateUsage]  # which is this machine's
    assert kernel is not None
    mute = Kernel(kernel.level, kernel.option, kernel.size, says_version=True)
    monkeypatch.setattr(door_module, "_KERNEL", mute)
    echo = Echo()
    with trio.fail_after(30):
        async with open_listener("unix") as listener:
            assert "doesn't say whose process" in await refused(listener.issue(echo.serve))
    assert echo.came == 0


def test_the_token_is_long_is_not_an_argument_and_is_not_printed() -> None:
    listener = RelayListener("unix:/x/s")
    one, other = listener.issue(Echo().serve), listener.issue(Echo().serve)
    assert len(bytes.fromhex(one.token)) * 8 == 256
    assert one.token != other.token
    assert all(one.token not in argument for argument in one.access.arguments)
    assert one.token not in repr(one)
    assert os.path.isabs(one.access.program)
    assert os.path.isabs(one.access.arguments[2])


def test_a_long_temporary_folder_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module.tempfile, "gettempdir", lambda: "/long" * 30)
    folder = door_module._short_folder()  # pyright: ignore[reportPrivateUsage]  # which no test can see from outside
    assert folder == "/tmp"


def test_the_relay_needs_nothing_of_ours() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"""
import runpy, sys
before = set(sys.modules)
sys.argv = ["relay.py"]
runpy.run_path({relay_module.__file__!r}, run_name="relay")
print(*sorted(set(sys.modules) - before))
""",
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout.split()
    assert {"socket"} <= set(loaded)
    assert not {"agents", "trio", "asyncio", "threading", "subprocess", "json"} & set(loaded)


# The handshake, without processes.


@asynccontextmanager
async def guest(listener: RelayListener) -> AsyncGenerator[trio.SocketStream]:
    stream = trio.SocketStream(trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM))
    async with stream:
        await stream.socket.connect(listener.address.removeprefix("unix:"))
        yield stream


@pytest.mark.limit("agents.mcp.listener.HANDSHAKE_SECONDS")
async def test_whoever_says_nothing_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "HANDSHAKE_SECONDS", 0.05)
    with trio.fail_after(30):
        async with open_listener("unix") as listener, guest(listener) as stream:
            assert (await stream.receive_some()).startswith(b"no ")
            assert await stream.receive_some() == b""


@pytest.mark.limit("agents.mcp.listener._LONGEST_HANDSHAKE")
@pytest.mark.parametrize("words", [b"\x00\xff" * 1000, b"\n", b"GET / HTTP/1.1\r\n\r\n", b""])
async def test_garbage_is_refused_and_the_door_stays_open(words: bytes) -> None:
    with trio.fail_after(30):
        async with open_listener("unix") as listener:
            echo = Echo()
            one = listener.issue(echo.serve)
            async with guest(listener) as stream:
                await stream.send_all(words)
                await stream.send_eof()
            async with relay(one) as process:
                await say(process, b"a")
                assert await hear(process, 2) == b"aa"


@pytest.mark.parametrize("words", [b"", b"0" * 64 + b"\n"])
async def test_what_a_guest_hands_over_in_vain_is_closed(words: bytes) -> None:
    with trio.fail_after(30):
        async with open_listener("unix") as listener, guest(listener) as stream:
            source, sink = os.pipe()
            reader = trio.lowlevel.FdStream(source)
            with socket.fromfd(stream.socket.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as own:
                socket.send_fds(own, [b"x", words], [sink, sink])
            os.close(sink)
            await stream.send_eof()
            assert (await stream.receive_some()).startswith(b"no ")
            assert await reader.receive_some() == b""
            await reader.aclose()


async def test_what_comes_with_the_token_but_before_the_answer_is_refused() -> None:
    with trio.fail_after(30):
        async with open_listener("unix") as listener, guest(listener) as stream:
            one = listener.issue(Echo().serve)
            await stream.send_all(one.token.encode() + b"\n{}\n")
            assert (await stream.receive_some()).startswith(b"no ")


async def test_a_server_that_fails_takes_nobody_with_it(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_stream: trio.abc.Stream) -> None:
        await trio.lowlevel.checkpoint()
        raise RuntimeError("a fault")

    with trio.fail_after(30):
        async with open_listener("unix") as listener:
            one, other = listener.issue(fail), listener.issue(Echo().serve)
            async with relay(one) as process:
                assert await end_of(process) == (0, "")
            async with relay(other) as process:
                await say(process, b"a")
                assert await hear(process, 2) == b"aa"
    assert "a fault" in caplog.text

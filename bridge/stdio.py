"""Standard input and output as trio streams, and nobody else's.

This is the only module that touches fds 0 and 1. It moves them to private duplicates, and points 0
at the null device and 1 at stderr. So a stray print or a child process can't corrupt the wire.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import trio

if sys.platform == "linux":
    import fcntl

CHUNK = 256 * 1024
"""The size of one read, in bytes. An editor repeats a long history in one line, and each read has a
cost. Much larger reads would let the memory of the process go up and down.
"""
PIPE = 1024 * 1024
"""The capacity of our input if it is a pipe, so that the process wakes less often. Linux allows no
more to users other than root. (Node gives its children sockets.)
"""
_CLOSED = -1


class _ThreadedSource(trio.abc.ReceiveStream):
    """Reads a file that can't be polled: a regular file, or anything on Windows."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return await trio.to_thread.run_sync(
            os.read, self._fd, max_bytes or CHUNK, abandon_on_cancel=True
        )

    async def aclose(self) -> None:
        os.close(self._fd)
        await trio.lowlevel.checkpoint()


class _ThreadedSink(trio.abc.SendStream):
    """Writes a file that can't be polled."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        def write() -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._fd, rest) :]

        try:
            await trio.to_thread.run_sync(write, abandon_on_cancel=True)
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        os.close(self._fd)
        await trio.lowlevel.checkpoint()


class PipeSink(trio.abc.SendStream):
    """Writes to a pipe at once where it has room; trio's own stream lets every task go first."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        os.set_blocking(fd, False)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write all the data; raises `trio.BrokenResourceError` if nobody reads."""
        await trio.lowlevel.checkpoint_if_cancelled()
        rest = memoryview(data)
        while rest := rest[self.write_now(rest) :]:
            await trio.lowlevel.wait_writable(self._fd)
        await trio.lowlevel.cancel_shielded_checkpoint()

    def write_now(self, data: bytes | memoryview) -> int:
        """Write what there is room for and return how much; raises `trio.BrokenResourceError`."""
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there is room."""
        await trio.lowlevel.wait_writable(self._fd)

    async def aclose(self) -> None:
        """Close it, once: soon the number may be another file's."""
        fd, self._fd = self._fd, _CLOSED
        if fd != _CLOSED:
            trio.lowlevel.notify_closing(fd)
            os.close(fd)
        await trio.lowlevel.checkpoint()


def _can_poll(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd))


def _take_over() -> tuple[int, int]:
    """Move fds 0 and 1 away and return where they are now."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def widen(fd: int) -> None:
    """Let a pipe hold `PIPE`; it does with less, where that isn't allowed."""
    if sys.platform == "linux" and stat.S_ISFIFO(os.fstat(fd).st_mode):
        with suppress(OSError):  # this user's pipes hold too much already
            if fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) < PIPE:
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE)


@asynccontextmanager
async def open_stdio() -> AsyncGenerator[tuple[trio.abc.ReceiveStream, trio.abc.SendStream]]:
    """Take standard input and output over, for good, and return them as streams."""
    source, sink = _take_over()
    widen(source)
    polled = [fd for fd in (source, sink) if _can_poll(fd)]
    receive = trio.lowlevel.FdStream(source) if source in polled else _ThreadedSource(source)
    send = PipeSink(sink) if sink in polled else _ThreadedSink(sink)
    try:
        yield receive, send
    finally:
        # The streams made these non-blocking, also for other processes that share the open files.
        # (Windows has no such call before Python 3.12, and later only one for pipes.)
        for fd in polled:
            os.set_blocking(fd, True)
        with trio.CancelScope(shield=True):
            await receive.aclose()
            await send.aclose()

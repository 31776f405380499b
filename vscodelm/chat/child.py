"""A server of our own: a child `vscodelm`, from its start to its certain end.

It runs in a process session of its own, so the terminal's Ctrl-C doesn't reach it. A cancel goes
over the wire. When this process ends, in any way, the child's input ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs
import trio

from bridge.errors import RpcError
from bridge.jsonrpc import LineSplitter, TooLong
from bridge.wire import ProgressParams

from .client import LEAVING_SECONDS, Client, ServerGone, open_connection

TERMINATING_SECONDS = 2.0
"""Seconds that a child process may take to end after a signal."""
_EXIT_SECONDS = 2.0  # after its output has ended, to learn its status
_KEPT_LINES = 100


def server_argv(options: Sequence[str] = ()) -> list[str]:
    """Return the command of a server with these options.

    `-P`, because in a folder that has an `agents` of its own, `-m` would import that one.
    """
    return [sys.executable, "-P", "-m", "vscodelm", *options]


@attrs.define(eq=False, repr=False)
class _Child:
    process: trio.Process
    show: Callable[[str], None]
    """Shows a line of the child's stderr."""
    _said: deque[str] = attrs.field(factory=lambda: deque[str](maxlen=_KEPT_LINES), init=False)
    _shows: bool = attrs.field(default=False, init=False)
    _silent: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def listen(self, stderr: trio.abc.ReceiveStream) -> None:
        """Read what the child logs. Until it serves, that is kept: it may be why it doesn't."""
        splitter = LineSplitter()
        async with stderr:
            async for chunk in stderr:
                self._take(splitter.feed(bytes(chunk)))
        self._take(splitter.finish())
        self._silent.set()

    def _take(self, lines: Sequence[bytes | TooLong]) -> None:
        for line in lines:
            text = line.decode(errors="replace").rstrip() if isinstance(line, bytes) else "..."
            self._said.append(text)
            if self._shows:
                self.show(text)

    def serves(self) -> None:
        """Show what was kept, and what comes."""
        self._shows = True
        for text in self._said:
            self.show(text)

    async def why(self) -> str:
        """Say why the connection ended: the status, and the last that the child said."""
        with trio.move_on_after(_EXIT_SECONDS):
            await self.process.wait()
            await self._silent.wait()
        match self.process.returncode:
            case None:
                how = "vscodelm closed its output"
            case status if status < 0:
                how = f"vscodelm was ended by signal {-status}"
            case status:
                how = f"vscodelm ended with status {status}"
        last = self._said[-1].removeprefix("Error: ") if self._said else ""
        return f"{how}: {last}" if last else f"{how}."

    async def end(self, patience: float) -> None:
        """Return when the child is gone: by itself, terminated, or killed with all its children."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(patience):
                await self.process.wait()
            if self.process.returncode is None and sys.platform != "win32":
                self.process.terminate()  # which on Windows would leave its agents behind
                with trio.move_on_after(TERMINATING_SECONDS):
                    await self.process.wait()
            if self.process.returncode is None:
                await self._kill()
                await self.process.wait()

    async def _kill(self) -> None:
        if sys.platform == "win32":
            from agents.acp.transport.windows import (  # here: nobody else needs it
                folded,
                tree_killer,
            )

            with trio.move_on_after(TERMINATING_SECONDS), suppress(OSError):
                command = tree_killer(self.process.pid, folded(os.environ))
                await trio.run_process(
                    command, capture_stdout=True, capture_stderr=True, check=False
                )
            self.process.kill()
        else:
            os.killpg(self.process.pid, signal.SIGKILL)  # the group that its session began with


@asynccontextmanager
async def open_client(
    argv: Sequence[str],
    show: Callable[[str], None],
    patience: float = LEAVING_SECONDS,
    tell: Callable[[ProgressParams], None] | None = None,
) -> AsyncGenerator[Client]:
    """Start a server and return its client; raises `ServerGone` if it doesn't start.

    Lines of its stderr go to `show`, and to `tell` how far something is. The server is gone when
    the context ends: its input ends, it has `patience` seconds to leave, then it is terminated,
    then killed.
    """
    refused: ServerGone | RpcError | None = None
    child = _Child(await _start(argv), show)
    source, sink, stderr = child.process.stdout, child.process.stdin, child.process.stderr
    assert source is not None, "asked for in _start"
    assert sink is not None, "asked for in _start"
    assert stderr is not None, "asked for in _start"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child.listen, stderr)
        try:
            async with open_connection(source, sink, child.why, patience, tell) as client:
                child.serves()
                yield client
        except (ServerGone, RpcError) as error:
            refused = error  # the caller's own come in a group, and go out
        finally:
            # When the connection has ended, its patience is used up or not needed.
            await child.end(TERMINATING_SECONDS)
            nursery.cancel_scope.cancel()
    if refused is not None:
        raise refused


async def _start(argv: Sequence[str]) -> trio.Process:
    try:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        if sys.platform == "win32":
            group = subprocess.CREATE_NEW_PROCESS_GROUP
            return await trio.lowlevel.open_process(argv, creationflags=group, **pipes)
        return await trio.lowlevel.open_process(argv, start_new_session=True, **pipes)
    except OSError as error:
        raise ServerGone(f"{argv[0]} can't be started: {error}") from None

"""Listen for the relays of agents: on a private socket, with a token for each session.

The socket is in a folder that only this user can enter. The kernel names the user of the connecting
process, and the token names the session. On Windows, where there is no such socket, any user's
process can connect to the port, so there the token is the only guard.

A token is for one connection at a time and ends with the session. It can't be for a single one:
agents start a server again after a crash, or for another connection, with the same environment.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import trio

from bridge.value import Value
from bridge.wire import EnvVariable

from .fd_passing import Handover
from .folders import SOCKET, make_folder, remove_left
from .session_tools import StdioAccess
from .stdio_proxy import MINE, TOKEN

_SOL_LOCAL = 0
"""The level of a Unix socket's own options on BSD; Python has no name for that level."""
_LOCAL_PEERCRED = 1
_BEGINNING = struct.Struct("=iI")
_BSD_VERSION = 0


class Kernel(Value):
    """A kernel's call that names the user of the process at the other end of a socket.

    The answer has at most `size` bytes. Linux answers with process, user and group (`SO_PEERCRED`).
    macOS and FreeBSD answer with a version and the user before the groups (`LOCAL_PEERCRED`). So
    the user is the second number everywhere.
    """

    level: int
    option: int
    size: int
    says_version: bool

    def user(self, answer: bytes) -> int | None:
        """Return whose process it is; None if the answer can't be understood."""
        if len(answer) < _BEGINNING.size:
            return None
        first, user = _BEGINNING.unpack_from(answer)
        return None if self.says_version and first != _BSD_VERSION else user


def kernel_of(platform: str, names: Mapping[str, Any]) -> Kernel | None:
    """Return how the kernel of a platform is asked; None where that isn't known.

    `names` are those of Python's `socket`.
    """
    if "SO_PEERCRED" in names:
        return Kernel(names["SOL_SOCKET"], names["SO_PEERCRED"], 12, says_version=False)
    if platform.startswith(("darwin", "freebsd")):
        option = names.get("LOCAL_PEERCRED", _LOCAL_PEERCRED)
        return Kernel(_SOL_LOCAL, option, 128, says_version=True)
    return None


HANDSHAKE_SECONDS = 5.0
"""Seconds that a relay may take to show its token."""
SUCCESSION_SECONDS = 2.0
"""Seconds that a relay waits for the end of the one before it."""
TOKEN_BYTES = 32
_LONGEST_HANDSHAKE = 256
"""Bytes that a relay may send before it is let in."""
_LONGEST_FOLDER = 70
"""A Unix socket's path has at most 104 characters on some systems, with what comes below it."""
_KERNEL = kernel_of(sys.platform, vars(socket))

SocketKind: TypeAlias = Literal["unix", "tcp"]
KIND: SocketKind = "tcp" if sys.platform == "win32" else "unix"
Serve: TypeAlias = Callable[[trio.abc.Stream], Awaitable[None]]

log = logging.getLogger("vscodelm.mcp")


class _Refused(Exception):
    """A relay isn't let in; the text is for its agent's log."""


@attrs.define(eq=False, repr=False)
class Pass:
    """The address and token for a session's agent. `revoke` ends it and its connection."""

    address: str
    token: str = attrs.field(repr=False)
    _listener: RelayListener
    _serve: Serve
    _turnstile: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _connection: trio.CancelScope | None = attrs.field(default=None, init=False)
    _is_revoked: bool = attrs.field(default=False, init=False)

    @property
    def access(self) -> StdioAccess:
        """The relay. Its token is in the environment: everybody could read its arguments."""
        script = Path(__file__).absolute().with_name("stdio_proxy.py")
        arguments = ("-I", "-S", str(script), self.address)
        return StdioAccess(sys.executable, arguments, (EnvVariable(TOKEN, self.token),))

    def revoke(self) -> None:
        """Let nobody in with it any more."""
        self._is_revoked = True
        self._listener.forget(self)
        if self._connection is not None:
            self._connection.cancel()

    async def let_in(self, stream: trio.abc.Stream, handover: Handover) -> None:
        """Serve a connection, when the one before it has ended; raises `_Refused`."""
        with trio.move_on_after(SUCCESSION_SECONDS) as waiting:
            await self._turnstile.acquire()
        if waiting.cancelled_caught:
            raise _Refused("another process uses these tools, with the same token")
        try:
            if self._is_revoked:
                raise _Refused(_OVER)
            with trio.CancelScope() as self._connection:
                agent = handover.take()
                if agent is None:
                    await stream.send_all(b"ok\n")
                    await self._serve(stream)
                else:
                    await self._serve_directly(agent, stream)
        finally:
            self._connection = None
            self._turnstile.release()

    async def _serve_directly(self, agent: trio.abc.Stream, relay: trio.abc.Stream) -> None:
        """Serve an agent that no relay stands between, for as long as its relay lives."""
        async with agent, trio.open_nursery() as nursery:
            await relay.send_all(MINE)
            nursery.start_soon(_wait_for_end, relay, nursery.cancel_scope)
            await self._serve(agent)
            nursery.cancel_scope.cancel()


_OVER = "its token isn't valid, or not any more: the chat may be over"


@attrs.define(eq=False, repr=False)
class RelayListener:
    """A socket that listens for relays, and the sessions' passes."""

    address: str
    _passes: list[Pass] = attrs.field(factory=list[Pass], init=False)

    def issue(self, serve: Serve) -> Pass:
        """Return a pass for a session; `serve` gets each connection that it lets in."""
        one = Pass(self.address, secrets.token_hex(TOKEN_BYTES), self, serve)
        self._passes.append(one)
        return one

    def forget(self, one: Pass) -> None:
        """Accept a pass no longer."""
        if one in self._passes:
            self._passes.remove(one)

    async def receive(self, stream: trio.SocketStream) -> None:
        """Let a relay in, or tell it why not. A failure of one connection affects no other."""
        handover = Handover(stream)
        async with stream:
            try:
                shown = await _read_token(handover)
                _check_peer(stream.socket)
                await self._owner(shown).let_in(stream, handover)
            except _Refused as refused:
                log.warning("relay refused reason=%s", refused)
                with trio.move_on_after(HANDSHAKE_SECONDS):
                    await _send(stream, f"no {refused}\n".encode())
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                log.info("relay gone")
            except Exception:  # such as a fault of the library that serves
                log.exception("relay's connection failed")
            finally:
                handover.close()

    def _owner(self, shown: bytes) -> Pass:
        # Each is compared, and whole, so that the time it takes tells nothing.
        found = [one for one in self._passes if hmac.compare_digest(one.token.encode(), shown)]
        if not found:
            raise _Refused(_OVER)
        return found[0]


async def _read_token(handover: Handover) -> bytes:
    line = bytearray()
    with trio.move_on_after(HANDSHAKE_SECONDS):
        while b"\n" not in line and len(line) < _LONGEST_HANDSHAKE:
            chunk = await handover.receive(_LONGEST_HANDSHAKE)
            if not chunk:
                break
            line += chunk
    return bytes(line.removesuffix(b"\n"))


async def _wait_for_end(relay: trio.abc.Stream, then: trio.CancelScope) -> None:
    try:
        await relay.receive_some(1)  # it has nothing to say
    except trio.BrokenResourceError:
        log.info("relay gone")
    then.cancel()


async def _send(stream: trio.abc.Stream, words: bytes) -> None:
    try:
        await stream.send_all(words)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        log.info("relay gone")


def _check_peer(peer: trio.socket.SocketType) -> None:
    """Refuse another user's process, where the kernel tells."""
    if peer.family != getattr(socket, "AF_UNIX", None) or _KERNEL is None:
        return
    user = _KERNEL.user(peer.getsockopt(_KERNEL.level, _KERNEL.option, _KERNEL.size))
    if user is None:
        raise _Refused("the kernel doesn't say whose process this is")
    if user != _own_uid():
        raise _Refused(f"this process is another user's, whose number is {user}")


def _own_uid() -> int:
    return os.geteuid()


@asynccontextmanager
async def open_listener(kind: SocketKind = KIND) -> AsyncGenerator[RelayListener]:
    """Listen for relays until the exit; then nobody is connected, and nothing is left on disk."""
    folder = make_folder(_short_folder()) if kind == "unix" else None
    try:
        with _listening(folder) as bound:
            listener = RelayListener(_address(bound))
            async with trio.open_nursery() as nursery:
                incoming = trio.SocketListener(trio.socket.from_stdlib_socket(bound))
                nursery.start_soon(trio.serve_listeners, listener.receive, [incoming])
                if folder is not None:
                    nursery.start_soon(_remove_left, os.path.dirname(folder))
                yield listener
                nursery.cancel_scope.cancel()
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


async def _remove_left(parent: str) -> None:
    await trio.to_thread.run_sync(remove_left, parent, abandon_on_cancel=True)


def _listening(folder: str | None) -> socket.socket:
    """Return a socket that listens, in a folder or on the loopback."""
    bound = socket.socket(socket.AF_INET if folder is None else socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if folder is None:
            bound.bind(("127.0.0.1", 0))
        else:
            path = os.path.join(folder, SOCKET)
            bound.bind(path)
            os.chmod(path, 0o600)
        bound.listen(64)
    except BaseException:
        bound.close()
        raise
    return bound


def _address(bound: socket.socket) -> str:
    name = bound.getsockname()
    return f"unix:{name}" if isinstance(name, str) else f"tcp:{name[1]}"


def _short_folder() -> str:
    """Return where temporary files go, or what is shorter: a socket's path may not be long."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= _LONGEST_FOLDER else "/tmp"

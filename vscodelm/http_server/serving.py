"""The connections of the server: hypercorn speaks HTTP on them, within limits of ours."""

from __future__ import annotations

import logging
import os
import socket
import stat
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, RawData
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from starlette.types import ASGIApp, Scope

from bridge.value import Value

from .api_error import RETRY_SECONDS, ApiError

if TYPE_CHECKING:
    from hypercorn.events import Event
if sys.platform != "win32":
    import resource

MOST_CONNECTIONS = 512
"""Connections that may be open at once, and as many more that are refused with 429 at the moment.

If that many are open, the oldest whose client hasn't shown the token makes room for another one. It
is refused with 429 then.

Another one is closed without an answer. If the process may have only few files open, at most half
of them are connections, and an eighth are connections that are refused."""
REFUSAL_SECONDS = 2.0
"""Seconds that a client may take to read that there are too many connections."""
STALL_SECONDS = 120.0
"""Seconds for which a client may take nothing of what is sent to it."""
HEADER_SECONDS = 10
"""Seconds that a connection may take to send the headers of a request, and may rest between two."""
MOST_MESSAGE_BYTES = 16 * 1024 * 1024
"""Bytes of a message over a WebSocket."""
_LET_IN = "vscodelm.let_in"
_BACKLOG = 1_024
"""Connections that wait to be taken; the system may allow fewer."""

log = logging.getLogger("vscodelm.http")


_FULL = ApiError(
    429, "too_many_connections", "Too many connections are open. Try again later."
).body
_REFUSAL = (
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: %d\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
    % (RETRY_SECONDS, len(_FULL), _FULL)
)


class ServedAddress(Value):
    """The address of a server: a host and a port, or the path of a Unix socket."""

    host: str
    port: int
    path: str | None = None

    @property
    def url(self) -> str:
        """The base URL of the API."""
        if self.path is not None:
            return f"unix:{self.path}"
        return f"http://{self.host}:{self.port}/v1"


class CannotListen(Exception):
    """The server can't listen there; the message says why."""


class _Protocol(H11Protocol):
    """HTTP/1.1, of which nothing is upgraded but WebSockets."""

    async def _check_protocol(self, event: object) -> None:
        """Take no request for the beginning of HTTP/2, whose connections have other limits."""


class _Connection(TCPServer):
    """A connection whose failure ends no other, and whose client must read."""

    has_sent = False
    """Whether anything was sent to the client."""
    is_sent_away = False
    """Whether it made room for another one."""
    scope: trio.CancelScope
    """Its cancel ends the connection."""

    async def run(self) -> None:
        """Serve it until it ends, fails or is cancelled."""
        with self.scope:
            try:
                await self._serve()
            except* Exception as group:  # such as a header that hypercorn can't read
                log.info("connection failed: %r", group.exceptions)

    async def _serve(self) -> None:
        """Do what hypercorn does, with HTTP/1.1 alone."""
        async with TaskGroup() as tasks:
            self._task_group = tasks
            state, place = ConnectionState(self.state), ("", 0)
            self.protocol = cast(
                "Any",
                _Protocol(
                    self.app,
                    self.config,
                    self.context,
                    cast("Any", tasks),
                    state,
                    False,
                    place,
                    place,
                    self.protocol_send,
                ),
            )
            await cast("Any", self.idle_task).restart(tasks, self._idle_timeout)
            await self._read_data()

    async def _idle_timeout(self) -> None:
        """End a connection that sends no headers; one that has sent nothing yet is told of."""
        with trio.move_on_after(self.config.keep_alive_timeout):
            await trio.sleep_forever()
        if not self.has_sent:
            log.info("a connection is closed: no headers came within %d s", HEADER_SECONDS)
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()

    async def protocol_send(self, event: Event) -> None:
        """Send bytes; a client that doesn't take them for long is gone."""
        if not isinstance(event, RawData):
            await super().protocol_send(event)
            return
        self.has_sent = True
        try:
            async with self.send_lock:
                with trio.fail_after(STALL_SECONDS):
                    await self.stream.send_all(event.data)
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            await self.protocol.handle(Closed())


@attrs.define(eq=False, repr=False)
class HttpConnections:
    """Serves connections with an application."""

    app: ASGIApp
    _config: Config = attrs.field(init=False)
    _context: WorkerContext = attrs.field(factory=lambda: WorkerContext(None), init=False)
    _open: int = attrs.field(default=0, init=False)
    _refused: int = attrs.field(default=0, init=False)
    _strangers: dict[_Connection, None] = attrs.field(factory=dict["_Connection", None], init=False)
    """The connections whose clients haven't shown the token yet, the oldest first."""

    def __attrs_post_init__(self) -> None:
        config = self._config = Config()
        config.errorlog = None
        config.include_server_header = False
        config.keep_alive_timeout = HEADER_SECONDS
        config.websocket_max_message_size = MOST_MESSAGE_BYTES

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection."""
        files = most_files()
        is_full = self._open >= min(MOST_CONNECTIONS, files // 2)
        is_refused = is_full and not self._strangers
        try:
            if is_full:
                log.warning("a connection is refused: %d are open", self._open)
                self._send_away()
            if not is_refused:
                is_refused = await self._serve(stream)
            if is_refused and self._refused < min(MOST_CONNECTIONS, files // 8):
                await self._refuse(stream)
        finally:
            await trio.aclose_forcefully(stream)

    def _send_away(self) -> None:
        """Make the oldest stranger leave, if there is one."""
        for oldest in [*self._strangers][:1]:
            del self._strangers[oldest]
            self._open -= 1
            oldest.is_sent_away = True
            oldest.scope.cancel()

    async def _serve(self, stream: trio.SocketStream) -> bool:
        """Serve a connection; return whether it was sent away without an answer."""
        state: dict[str, Any] = {}
        app, shared = ASGIWrapper(cast("Any", self.app)), ConnectionState(cast("Any", state))
        one = _Connection(app, self._config, self._context, shared, cast("Any", stream))
        one.scope = trio.CancelScope()
        state[_LET_IN] = partial(self._strangers.pop, one, None)
        self._open += 1
        self._strangers[one] = None
        try:
            await one.run()
        finally:
            self._strangers.pop(one, None)
            self._open -= not one.is_sent_away
        return one.is_sent_away and not one.has_sent

    async def _refuse(self, stream: trio.SocketStream) -> None:
        """Answer with 429, and wait a moment until the client has read that."""
        self._refused += 1
        try:
            with trio.move_on_after(REFUSAL_SECONDS), suppress(trio.BrokenResourceError):
                await stream.send_all(_REFUSAL)
                await stream.send_eof()
                while await stream.receive_some():  # if not read, it would reset the answer
                    pass
        finally:
            self._refused -= 1


def let_in(scope: Scope) -> None:
    """Take in that the client of a request's connection has shown the token."""
    scope["state"][_LET_IN]()


def most_files() -> int:
    """Return how many files, and so sockets, this process may have open."""
    if sys.platform == "win32":
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


@contextmanager
def bound(listen: str, port: int) -> Generator[tuple[socket.socket, ServedAddress]]:
    """Bind a socket; raises `CannotListen`. A Unix socket is removed at the end."""
    if listen.startswith("unix:"):
        path = Path(listen.removeprefix("unix:")).absolute()
        with _unix(path) as one:
            yield one, ServedAddress("", 0, str(path))
        return
    host = listen.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    one = socket.socket(family, socket.SOCK_STREAM)
    with one:
        try:
            if os.name == "posix":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((host, port))
            one.listen(_BACKLOG)
        except OSError as error:
            raise CannotListen(f"can't listen on {listen}, port {port}: {error}") from None
        shown = f"[{host}]" if ":" in host else host
        yield one, ServedAddress(shown, one.getsockname()[1])


@contextmanager
def _unix(path: Path) -> Generator[socket.socket]:
    kind: Any = getattr(socket, "AF_UNIX", None)
    if kind is None:
        raise CannotListen("this system has no Unix sockets")
    with socket.socket(kind, socket.SOCK_STREAM) as one:
        try:
            _remove_dead(path, kind)
            former = os.umask(0o177)
            try:
                one.bind(str(path))
            finally:
                os.umask(former)
            one.listen(_BACKLOG)
        except OSError as error:
            raise CannotListen(f"can't listen on unix:{path}: {error}") from None
        try:
            yield one
        finally:
            path.unlink(missing_ok=True)


def _remove_dead(path: Path, kind: Any) -> None:
    """Remove a socket that a server left behind; another one's, or another file, stays."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise CannotListen(f"can't listen on unix:{path}: there is another file")
    except FileNotFoundError:
        return
    with socket.socket(kind, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise CannotListen(f"can't listen on unix:{path}: another server does")


@asynccontextmanager
async def serving(app: ASGIApp, listening: socket.socket) -> AsyncGenerator[None]:
    """Serve connections until the exit, which closes them all."""
    connections = HttpConnections(app)
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening))
    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_listeners, connections.serve, [listener])
        yield
        nursery.cancel_scope.cancel()

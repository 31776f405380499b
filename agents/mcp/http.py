"""The same server for agents that take only HTTP: on the loopback, behind a gate, one a session.

Importing it takes a while, as `server` does; so it is imported in a thread as well.
"""

from __future__ import annotations

import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import attrs
import trio
from hypercorn import trio as hypercorn_trio
from hypercorn.config import Config
from hypercorn.trio import run as hypercorn_run
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.typing import ASGIFramework
from mcp_types.jsonrpc import INVALID_REQUEST

from agents.boundary import contained
from agents.breather import Breather
from agents.json_limits import has_too_many_values

from .http_auth import UNAUTHORIZED, Gate
from .session_tools import HttpAccess
from .streams import MOST_VALUES, Unread

if TYPE_CHECKING:
    from hypercorn.typing import (
        ASGIReceiveCallable,
        ASGIReceiveEvent,
        ASGISendCallable,
        HTTPScope,
        Scope,
    )

    from .server import EditorServer

MOST_BYTES = 4 * 1024 * 1024
"""Bytes of a request. The arguments of a call may hold a whole file."""
MOST_SESSIONS = 8
"""Sessions of MCP that an agent may have open at once."""
ADDRESS = "127.0.0.1"
_BAD_REQUEST = 400
_NOBODY = Gate("", "", "")

log = logging.getLogger("vscodelm.mcp")


@attrs.define(eq=False, repr=False)
class _Guarded:
    """An ASGI app behind a gate, which is shut until it is known where it stands."""

    app: ASGIFramework
    gate: Gate = _NOBODY

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            status = self.gate.refusal(scope["path"], scope["headers"])
            if status is None:
                with contained("mcp=request"):  # the client reads that its request failed
                    await self._serve(scope, receive, send)
            else:
                await _refuse(send, status)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": ""})

    async def _serve(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["method"] == "POST":
            receive, body = await _examined(receive)
            if body is not None and await Breather().do(has_too_many_values(body, MOST_VALUES)):
                words = f"a message may have at most {MOST_VALUES:,} values"
                answer = Unread.of(INVALID_REQUEST, words).answer
                text = answer.model_dump_json(by_alias=True, exclude_unset=True)
                await _refuse(send, _BAD_REQUEST, text.encode())
                return
        await self.app(scope, receive, send)


async def _examined(receive: ASGIReceiveCallable) -> tuple[ASGIReceiveCallable, bytes | None]:
    """Return what gives the same events again, and the body, before anything decodes it.

    A body of more than `MOST_BYTES` is passed on as it comes: the SDK refuses it.
    """
    events: deque[ASGIReceiveEvent] = deque()
    body = bytearray()
    while True:
        event = await receive()
        events.append(event)
        if event["type"] != "http.request":
            break
        body += event["body"]
        if len(body) > MOST_BYTES or not event["more_body"]:
            break

    async def again() -> ASGIReceiveEvent:
        return events.popleft() if events else await receive()

    return again, bytes(body) if len(body) <= MOST_BYTES else None


async def _refuse(send: ASGISendCallable, status: int, body: bytes = b"") -> None:
    headers = [(b"content-length", b"%d" % len(body))]
    if body:
        headers.append((b"content-type", b"application/json"))
    if status == UNAUTHORIZED:
        headers.append((b"www-authenticate", b"Bearer"))
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": headers,
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})


class _Connection(TCPServer):
    """A connection whose failure ends no other.

    Anybody on this machine may connect. hypercorn lets a header that it can't read, before our gate
    has seen the request, end the whole server.
    """

    async def run(self) -> None:
        """Serve it until it ends or fails."""
        try:
            await super().run()
        except* Exception as group:
            log.info("connection failed: %r", group.exceptions)


cast("Any", hypercorn_run).TCPServer = _Connection


@attrs.define(eq=False, repr=False)
class Web:
    """A server on a port, under a path that nobody can guess; shut until the first `issue`."""

    _guarded: _Guarded
    _host: str
    _path: str

    def issue(self) -> HttpAccess:
        """Let in requests with a new token, and no others any more."""
        token = secrets.token_hex(32)
        self._guarded.gate = Gate(self._host, self._path, token)
        return HttpAccess(f"http://{self._host}{self._path}", f"Bearer {token}")


@asynccontextmanager
async def open_web(server: EditorServer) -> AsyncGenerator[Web]:
    """Serve on the loopback until the exit."""
    path = f"/{secrets.token_urlsafe(16)}/mcp"
    with server.sdk() as sdk:
        app: Any = sdk.streamable_http_app(
            streamable_http_path=path,
            host=ADDRESS,
            max_request_body_size=MOST_BYTES,
            max_sessions=MOST_SESSIONS,
            session_idle_timeout=None,  # it ends with the agent's session
        )
        guarded = _Guarded(app)
        async with trio.open_nursery() as nursery:
            serve = cast("Any", hypercorn_trio).serve  # whose types are incomplete
            (bound,) = await nursery.start(serve, guarded, _config())
            yield Web(guarded, urlsplit(str(bound)).netloc, path)
            nursery.cancel_scope.cancel()


def _config() -> Config:
    config = Config()
    config.bind = [f"{ADDRESS}:0"]
    config.errorlog = None
    config.include_server_header = False
    return config

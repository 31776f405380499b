"""An MCP server of the user's on the network, by the official SDK, behind a key.

    async with remote_server("http", "key") as address:
        ...

It has one tool, `count`, which says what it counts. A request without the key is refused.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import attrs
import trio
from hypercorn.config import Config
from hypercorn.trio import serve  # pyright: ignore[reportUnknownVariableType]
from hypercorn.typing import ASGIFramework
from mcp.server.mcpserver import MCPServer

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

Transport: TypeAlias = Literal["http", "sse"]


@attrs.frozen
class _Locked:
    """An ASGI app behind a header `Authorization`."""

    app: ASGIFramework
    key: str

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        wanted = (b"authorization", f"Bearer {self.key}".encode())
        if scope["type"] == "http" and wanted not in scope["headers"]:
            head: Any = {"type": "http.response.start", "status": 401, "headers": []}
            await send(head | {"trailers": False})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self.app(scope, receive, send)


@asynccontextmanager
async def remote_server(transport: Transport, key: str) -> AsyncGenerator[str]:
    """Serve on the loopback device until the block ends; yield the address."""
    server = MCPServer("notes")

    @server.tool()
    def count(things: str) -> str:
        """Count things."""
        return f"seventeen {things}"

    app = server.streamable_http_app() if transport == "http" else server.sse_app()
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.accesslog = config.errorlog = None
    locked = _Locked(cast("ASGIFramework", app), key)
    async with trio.open_nursery() as nursery:
        (address,) = await nursery.start(partial(serve, cast("Any", locked), config))
        yield f"{address}/{'mcp' if transport == 'http' else 'sse'}"
        nursery.cancel_scope.cancel()

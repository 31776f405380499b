"""An MCP client for tests that knows nothing of the SDK: it says and hears JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio
from trio.testing import memory_stream_pair

from agents.mcp.server import EditorServer
from agents.mcp.wire import LineWire
from bridge.jsonrpc import LineSplitter

JSON = dict[str, Any]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
_META = "io.modelcontextprotocol/"


@attrs.define(eq=False)
class Client:
    """Speaks one era of the protocol; `era` None says nothing of one."""

    stream: trio.abc.Stream
    era: str | None = "2025-11-25"
    _heard: list[JSON] = attrs.field(factory=list[JSON], init=False)
    _splitter: LineSplitter = attrs.field(factory=LineSplitter, init=False)
    _ids: int = attrs.field(default=0, init=False)

    def message(self, method: str, params: JSON | None = None, **more: Any) -> JSON:
        """Return a message as this era has it."""
        if self.era == STATELESS and "id" in more:
            meta = {
                f"{_META}protocolVersion": self.era,
                f"{_META}clientInfo": {"name": "test", "version": "1"},
                f"{_META}clientCapabilities": {},
            }
            params = {**(params or {}), "_meta": {**meta, **(params or {}).get("_meta", {})}}
        return {
            "jsonrpc": "2.0",
            "method": method,
            **({"params": params} if params else {}),
            **more,
        }

    async def send(self, *messages: Any) -> None:
        """Say messages."""
        lines = [json.dumps(message).encode() + b"\n" for message in messages]
        await self.stream.send_all(b"".join(lines))

    async def begin(self, method: str, params: JSON | None = None) -> int:
        """Send a request; return its id."""
        self._ids += 1
        await self.send(self.message(method, params, id=self._ids))
        return self._ids

    async def notify(self, method: str, params: JSON | None = None) -> None:
        """Send a notification."""
        await self.send(self.message(method, params))

    async def ask(self, method: str, params: JSON | None = None) -> Any:
        """Return the result of a request; fails if it is an error."""
        return (await self.answer(await self.begin(method, params)))["result"]

    async def call(self, name: str, **arguments: Any) -> Any:
        """Return the result of a call."""
        return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def answer(self, id_: int | None) -> JSON:
        """Return the response to a request, in whatever order they come."""
        return await self._find(lambda one: "method" not in one and bool(one["id"] == id_))

    async def hear(self, method: str) -> JSON:
        """Return the next notification of that method."""
        return await self._find(lambda one: bool(one.get("method") == method))

    async def introduce(self) -> JSON:
        """Do what comes first in this era."""
        if self.era == STATELESS:
            return await self.ask("server/discover")
        params = {
            "protocolVersion": self.era,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = await self.ask("initialize", params)
        await self.notify("notifications/initialized")
        return answer

    async def _find(self, wanted: Callable[[JSON], bool]) -> JSON:
        with trio.fail_after(60):
            while True:
                for one in self._heard:
                    if wanted(one):
                        self._heard.remove(one)
                        return one
                chunk = await self.stream.receive_some()
                assert chunk, "the server has ended"
                for line in self._splitter.feed(bytes(chunk)):
                    assert isinstance(line, bytes)
                    self._heard.append(json.loads(line))

    @property
    def unexpected(self) -> list[JSON]:
        """What was heard and not asked for."""
        return self._heard


@asynccontextmanager
async def connected(server: EditorServer, era: str | None = "2025-11-25") -> AsyncGenerator[Client]:
    """Connect to a server; on exit the client has gone, and the server must have noticed."""
    theirs, ours = memory_stream_pair()
    with trio.fail_after(3600):  # of the mock clock
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.serve, LineWire(ours))
            client = Client(theirs, era)
            try:
                yield client
            finally:
                with trio.CancelScope(shield=True):
                    await theirs.aclose()

"""A registry on a loopback address: a real HTTP server under trio that answers as it is told.

    {"status": 200, "headers": {...}, "body": b"..."}   the answer; Content-Length is added
    {"stall": True}                                    says nothing more, for ever
    {"raw": b"..."}                                    these bytes, then the end
    {"endless": True}                                  a body without an end

A route is a list of answers, one for each time it is asked; the last one is for all after it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import attrs
import trio

Answer: TypeAlias = dict[str, Any]


@attrs.define(eq=False)
class RegistryServer:
    """What it answers, and what it was asked: the path and the headers, lower-cased."""

    port: int
    routes: dict[str, Sequence[Answer]]
    asked: list[tuple[str, dict[str, str]]] = attrs.field(
        factory=list[tuple[str, dict[str, str]]], init=False
    )

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer one request and close."""
        async with stream:
            head = b""
            while b"\r\n\r\n" not in head:
                chunk = await stream.receive_some()
                if not chunk:
                    return
                head += chunk
            first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
            path = first.split()[1]
            headers = dict(line.lower().split(": ", 1) for line in lines)
            earlier = sum(asked == path for asked, _ in self.asked)
            self.asked.append((path, headers))
            answers = self.routes.get(path, [{"status": 404}])
            with suppress(trio.BrokenResourceError):  # who has heard enough hangs up
                await self._answer(stream, answers[min(earlier, len(answers) - 1)])

    async def _answer(self, stream: trio.SocketStream, answer: Answer) -> None:
        if "raw" in answer:
            await stream.send_all(answer["raw"])
            return
        if "endless" in answer:
            await stream.send_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                await stream.send_all(bytes(10_000))
        body: bytes = answer.get("body", b"")
        headers = {"Content-Length": str(len(body)), **answer.get("headers", {})}
        lines = [f"HTTP/1.1 {answer.get('status', 200)} Fine"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if "stall" in answer:
            await stream.send_all("\r\n".join(lines).encode() + b"\r\n")
            await trio.sleep_forever()
        await stream.send_all("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)


@asynccontextmanager
async def registry_server(
    routes: Mapping[str, Sequence[Answer]],
) -> AsyncGenerator[RegistryServer, None]:
    """Serve until the end of the block, whose error comes out as it is."""
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port: int = listener.socket.getsockname()[1]
        server = RegistryServer(port, dict(routes))
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        try:
            yield server
        except Exception as error:
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure

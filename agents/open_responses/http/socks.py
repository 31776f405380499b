"""Watches a SOCKS proxy while it is asked for a connection.

httpcore waits for the proxy's answer without any bound, and leaves the socket open where the proxy
refuses. Its trace tells when that begins and how it ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs
import httpx
import trio

from .proxies import proxies_in

_SETUP = "socks.setup_socks5_connection"
_CLOSING_SECONDS = 1.0


@attrs.define(eq=False, repr=False)
class SocksWatch:
    """Watches one request; the proxy may take `seconds` to connect it."""

    seconds: float
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _stream: Any = attrs.field(default=None, init=False)
    """The connection to the proxy, until that has connected it with the endpoint."""

    @classmethod
    def of(cls, environment: Mapping[str, str], seconds: float) -> SocksWatch | None:
        """Return what watches a request, None where the environment names no such proxy."""
        addresses = proxies_in(environment).values()
        return cls(seconds) if any(one.lower().startswith("socks") for one in addresses) else None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take what httpcore says that it does (the extension `trace` of a request)."""
        if event == f"{_SETUP}.started":
            self._stream = info["stream"]
            self._scope.deadline = trio.current_time() + self.seconds
        elif event == f"{_SETUP}.complete":
            self._stream = None
            self._scope.deadline = float("inf")

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Bound the sending of the request; raises `httpx.ConnectTimeout`."""
        try:
            with self._scope:
                yield
        finally:
            if self._stream is not None:
                with trio.move_on_after(_CLOSING_SECONDS, shield=True):
                    await self._stream.aclose()
        if self._scope.cancelled_caught:
            raise httpx.ConnectTimeout(f"the SOCKS proxy said nothing for {self.seconds:g} seconds")

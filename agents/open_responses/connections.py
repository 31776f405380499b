"""HTTP clients of one endpoint, each of use to one request at a time.

One that a request was broken off on is closed, with its connection: HTTP/2 would go on receiving
the answer otherwise, because httpcore doesn't tell the server, and the server would go on writing
it. One that was read to the end waits for the next request.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import attrs
import httpx
import trio

from .certificates import BadCertificates, trusted_certificates
from .proxies import exceptions_in, proxies_in, proxy_fault

if TYPE_CHECKING:
    import ssl

_KEPT_SECONDS = 60.0
_MOST_IDLE = 4
_CLOSING_SECONDS = 1.0

# They tell what they send at their lowest level, keys among it.
for _name in ("httpx", "httpcore", "hpack", "h2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class BadEnvironment(Exception):
    """No client can be made; the message says which variable is the cause."""


@attrs.define(eq=False)
class Lease:
    """A client for one request; `is_clean` when its answer was read to the end."""

    client: httpx.AsyncClient
    is_clean: bool = False


class Connections:
    """Opens clients when there is none to spare, and keeps those that are clean."""

    def __init__(self, timeout: httpx.Timeout) -> None:
        self._timeout = timeout
        self._idle: list[httpx.AsyncClient] = []
        self._tls: ssl.SSLContext | None = None
        self._is_closed = False

    @asynccontextmanager
    async def lease(self) -> AsyncGenerator[Lease]:
        """Lend a client; raises `BadEnvironment` where the environment lets us make none."""
        lease = Lease(self._idle.pop() if self._idle else self._new())
        try:
            yield lease
        finally:
            if lease.is_clean and not self._is_closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(lease.client)
            else:
                await _close(lease.client)

    def _new(self) -> httpx.AsyncClient:
        fault = proxy_fault(os.environ)
        if fault is not None:
            raise BadEnvironment(fault)
        try:
            if self._tls is None:
                self._tls = trusted_certificates()  # slow, and the same for all of them
            return httpx.AsyncClient(
                verify=self._tls,
                http2=True,
                timeout=self._timeout,
                limits=httpx.Limits(keepalive_expiry=_KEPT_SECONDS),
            )
        except BadCertificates as error:
            raise BadEnvironment(str(error)) from None
        except Exception as error:  # httpx reads more than it documents, and raises anything
            kind = type(error).__name__  # and not what it says: a proxy may have a password
            raise BadEnvironment(f"{_blamed(os.environ)} can't be used ({kind})") from None

    async def aclose(self) -> None:
        """Close what waits, and what comes back later."""
        self._is_closed = True
        while self._idle:
            await _close(self._idle.pop())


def _blamed(environment: Mapping[str, str]) -> str:
    """Return the variable that keeps a client from being made, as far as that can be told."""
    for name, address in proxies_in(environment).items():
        try:
            httpx.Proxy(address)
        except Exception:
            return f"the environment variable {name}"
    name = exceptions_in(environment)
    return f"the environment variable {name}" if name else "the proxy that the system names"


async def _close(client: httpx.AsyncClient) -> None:
    with trio.move_on_after(_CLOSING_SECONDS, shield=True):
        await client.aclose()

"""HTTP clients of one endpoint, each of use to one request at a time.

After an aborted request its client is closed, with the connection. Otherwise an HTTP/2 server would
go on writing the answer, because httpcore doesn't tell the server. One that was read to the end
waits for the next request.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

import attrs
import httpx
import trio

from agents.guarded import Tasks

from .certificates import FILE, FOLDER, KEY_LOG, BadCertificates, trusted_certificates
from .proxies import exceptions_in, proxies_in, proxy_fault

if TYPE_CHECKING:
    import ssl

KEPT_SECONDS = 60.0
"""Seconds that an idle client is kept."""
MOST_IDLE = 4
"""Clients of one endpoint that are kept."""
_CLOSING_SECONDS = 1.0

# At their lowest level these loggers write all that is sent, keys included.
for _name in ("httpx", "httpcore", "hpack", "h2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class BadEnvironment(Exception):
    """No client can be made; the message says which variable is the cause."""


@attrs.define(eq=False, repr=False)
class ClientLease:
    """A client for one request; `is_clean` when its answer was read to the end."""

    client: httpx.AsyncClient
    is_clean: bool = False


class Connections:
    """Opens clients when there is none to spare, and keeps those that are clean.

    Those that nobody uses are closed after `KEPT_SECONDS`, by one of the `tasks`; without them none
    is kept.
    """

    def __init__(self, timeout: httpx.Timeout, tasks: Tasks | None = None) -> None:
        self._timeout = timeout
        self._tasks = tasks
        self._idle: list[tuple[float, httpx.AsyncClient]] = []
        """With the time until which each is kept, the latest last."""
        self._sweeping = trio.CancelScope()
        self._swept = trio.Event()
        """Set while nothing is swept."""
        self._swept.set()
        self.is_closed = False

    @property
    def idle(self) -> int:
        """Number of idle clients."""
        return len(self._idle)

    @asynccontextmanager
    async def lease(self) -> AsyncGenerator[ClientLease]:
        """Lend a client; raises `BadEnvironment` where the environment lets us make none."""
        lease = ClientLease(self._idle.pop()[1] if self._idle else self._new())
        try:
            yield lease
        finally:
            if not (lease.is_clean and self._keep(lease.client)):
                await _close(lease.client)

    def _new(self) -> httpx.AsyncClient:
        fault = proxy_fault(os.environ)
        if fault is not None:
            raise BadEnvironment(fault)
        try:
            return httpx.AsyncClient(
                verify=_tls(*map(os.environ.get, (FILE, FOLDER, KEY_LOG))),
                http2=True,
                timeout=self._timeout,
                limits=httpx.Limits(keepalive_expiry=KEPT_SECONDS),
            )
        except BadCertificates as error:
            raise BadEnvironment(str(error)) from None
        except Exception as error:  # httpx reads more than it documents, and raises anything
            kind = type(error).__name__  # without its message: a proxy may have a password
            raise BadEnvironment(f"{_blamed(os.environ)} can't be used ({kind})") from None

    def _keep(self, client: httpx.AsyncClient) -> bool:
        """Keep a client for another request, if there is room; return whether it is kept."""
        if self.is_closed or self._tasks is None or len(self._idle) >= MOST_IDLE:
            return False
        self._idle.append((trio.current_time() + KEPT_SECONDS, client))
        if self._swept.is_set():
            self._swept = trio.Event()
            self._tasks.start_soon(self._sweep, name="idle connections")
        return True

    async def _sweep(self) -> None:
        """Close clients that were idle too long, until none is left."""
        try:
            with trio.CancelScope() as self._sweeping:
                while self._idle and not self.is_closed:
                    await trio.sleep_until(self._idle[0][0])
                    if self._idle and self._idle[0][0] <= trio.current_time():
                        await _close(self._idle.pop(0)[1])
        finally:
            self._swept.set()

    async def aclose(self) -> None:
        """Close what waits, and what comes back later."""
        self.is_closed = True
        self._sweeping.cancel()
        await self._swept.wait()
        while self._idle:
            await _close(self._idle.pop()[1])


@lru_cache(maxsize=1)
def _tls(*_named: str | None) -> ssl.SSLContext:
    """Return the context of all clients, which takes long to make, and 800 KB.

    It is named by variables of the environment, so each value has a context of its own.
    """
    return trusted_certificates()


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

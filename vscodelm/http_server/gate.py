"""Let through only the HTTP requests of a client that has the token. Pure.

Every process of this machine can reach the port. So can every web page in a browser: by itself,
with its Origin, or under a host name of its own that leads here. So a request needs the token, a
host that stands for this server, and no Origin but an allowed one.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from bridge.value import Value

from .api_error import ApiError

SHORTEST_TOKEN = 16
"""Characters of a token that the user chooses, at least."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("0.0.0.0", "[::]")
_BEARER = b"bearer "
_PORT_OF_HTTP = 80
"""The port that a client leaves out of the header `Host`."""


class HttpGate(Value):
    """Requirements for a request. `hosts` is None on a Unix socket: no browser reaches it.

    With `takes_addresses` every numeric address is a host: the server listens on all of them, and
    a page can give this machine a name of its own, but no address.
    """

    token: str
    hosts: frozenset[str] | None
    origins: frozenset[str] = frozenset()
    takes_addresses: bool = False

    def check(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Let a request through; raises `ApiError`."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        if not self._is_host(given.get(b"host", [])):
            raise ApiError(421, "wrong_host", "The header Host isn't one of this server.")
        origins = given.get(b"origin", [])
        if any(one.decode("latin-1") not in self.origins for one in origins):
            raise ApiError(403, "origin_not_allowed", "Web pages of this origin are refused.")
        if not self._is_token(given.get(b"authorization", [])):
            text = "The header Authorization must have the server's token: `Bearer TOKEN`."
            raise ApiError(401, "invalid_api_key", text)

    def _is_host(self, given: list[bytes]) -> bool:
        if self.hosts is None:
            return True
        if len(given) != 1:
            return False
        host = given[0].decode("latin-1").lower()
        return host in self.hosts or (self.takes_addresses and _is_numeric(host))

    def _is_token(self, given: list[bytes]) -> bool:
        if len(given) != 1 or given[0][: len(_BEARER)].lower() != _BEARER:
            return False
        return hmac.compare_digest(given[0][len(_BEARER) :].strip(), self.token.encode())


def gate_of(token: str, host: str | None, port: int = 0, origins: Iterable[str] = ()) -> HttpGate:
    """Return the gate of a server that listens there; `host` None is a Unix socket."""
    allowed = frozenset(origins)
    if host is None:
        return HttpGate(token, None, allowed)
    names = {*_LOOPBACK, host.lower()} - {*_WILDCARDS}
    hosts = frozenset(f"{name}:{port}" for name in names)
    if port == _PORT_OF_HTTP:
        hosts |= names
    return HttpGate(token, hosts, allowed, takes_addresses=host in _WILDCARDS)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _is_numeric(host: str) -> bool:
    name = host.rpartition(":")[0] if not host.endswith("]") else host
    try:
        ip_address((name or host).strip("[]"))
    except ValueError:
        return False
    return True

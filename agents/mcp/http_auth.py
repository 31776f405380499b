"""Let through only the HTTP requests of a client that has the token. Pure.

Every process of this machine can reach the port. So can every web page in a browser: by itself,
with its Origin, or under a host name of its own that leads here. So a request needs the token, the
very host that the agent was given, and no Origin.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from bridge.value import Value

UNAUTHORIZED, FORBIDDEN, NOT_FOUND, MISDIRECTED = 401, 403, 404, 421


class Gate(Value):
    """Requirements for a request: each header once, the path exactly."""

    host: str
    path: str
    token: str

    def refusal(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
        """Return the status to refuse a request with; None lets it through."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        if given.get(b"host") != [self.host.encode()]:
            return MISDIRECTED
        if b"origin" in given:
            return FORBIDDEN
        shown = given.get(b"authorization", [])
        if len(shown) != 1 or not hmac.compare_digest(shown[0], f"Bearer {self.token}".encode()):
            return UNAUTHORIZED
        return None if path == self.path else NOT_FOUND

"""The headers that a request is sent with; the key comes from the environment, each time anew."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.known_secrets import PLAIN_HEADERS
from bridge.wire import OpenResponsesSpec

from .errors import no_key, reserved_header

_RESERVED = frozenset({"connection", "content-length", "transfer-encoding", "upgrade"})


def headers_for(spec: OpenResponsesSpec, environment: Mapping[str, str]) -> dict[str, str]:
    """Return them; raises `EndpointError` if the variable that is named isn't there.

    No compression is asked for: what compresses a stream, holds its events back.
    """
    headers = {
        "accept": "text/event-stream, application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "vscodelm",
    }
    if spec.api_key_env is not None:
        key = environment.get(spec.api_key_env, "").strip()
        if not key:
            raise no_key(spec.api_key_env)
        headers["authorization"] = f"Bearer {key}"
    own = {name.lower(): value for name, value in spec.headers.items()}
    for name in _RESERVED & own.keys():
        raise reserved_header(name)
    return {**headers, **own}


def secrets_in(headers: Mapping[str, str]) -> list[str]:
    """Return what in headers nobody must see, the longest first."""
    found: set[str] = set()
    for name, value in headers.items():
        if name not in PLAIN_HEADERS:
            found |= {value, value.removeprefix("Bearer ")}
    return sorted(found, key=len, reverse=True)

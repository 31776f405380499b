"""Parse an endpoint's address, and name the endpoint for the user."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit


def resource(base_url: str, name: str) -> str:
    """Return the address of a resource; a query, as Azure's version of the protocol, stays."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if path.endswith("/responses"):
        path = path.removesuffix("/responses")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/{name}", parts.query, ""))


def server_name(base_url: str) -> str:
    """Return the host, and the port if there is one: nothing of an address that can be secret."""
    return f"The endpoint {host_of(base_url)}"


def host_of(base_url: str) -> str:
    """Return the host, and the port if there is one."""
    return urlsplit(base_url).netloc.rpartition("@")[2]

"""The proxies of the environment, checked before the HTTP client uses them. Pure.

The client takes the lower-case name of a variable before the upper-case one, and no proxy at all
where `NO_PROXY` has a `*`. A value may hold a password, so it is never repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from bridge.wire import NOT_IN_ADDRESSES

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
EXCEPTIONS = "NO_PROXY"
SCHEMES = ("http", "https", "socks5", "socks5h")


def proxy_fault(environment: Mapping[str, str]) -> str | None:
    """Return why a proxy can't be used, with the name of its variable; None if each can be."""
    return next(
        (
            f"the environment variable {name} {reason}"
            for name, address in proxies_in(environment).items()
            if (reason := _fault(address))
        ),
        None,
    )


def proxies_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of proxies that requests would take, by the names of their variables."""
    exceptions = _variable(environment, EXCEPTIONS)
    if exceptions and any(host.strip() == "*" for host in exceptions[1].split(",")):
        return {}
    found = (_variable(environment, name) for name in PROXIES)
    return {one[0]: _address(one[1]) for one in found if one}


def exceptions_in(environment: Mapping[str, str]) -> str | None:
    """Return the name of the variable that says which hosts need no proxy."""
    found = _variable(environment, EXCEPTIONS)
    return found[0] if found else None


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str] | None:
    """Return a variable as (name, value); None if it is empty or isn't there."""
    for spelled in (name.lower(), name):
        if spelled in environment:
            value = environment[spelled]
            return (spelled, value) if value else None
    return None


def _address(value: str) -> str:
    return value if "://" in value else f"http://{value}"


def _fault(address: str) -> str | None:
    if address.partition("://")[0].lower() not in SCHEMES:
        schemes = f"{', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}"
        return f"must be the address of a proxy: {schemes}, then :// and the host"
    try:
        parts = urlsplit(address)
        has_place = bool(parts.hostname) and parts.port != 0
        address.encode()
    except ValueError:
        has_place = False
    if has_place and not NOT_IN_ADDRESSES.search(address):
        return None
    return "isn't the address of a proxy, such as http://127.0.0.1:3128"

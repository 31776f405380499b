"""Check the addresses of the index and of archives before they are fetched. Pure."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

Format: TypeAlias = Literal["zip", "tar.gz", "tar.bz2", "raw"]
_FORMATS: dict[str, Format] = {
    ".zip": "zip",
    ".tar.gz": "tar.gz",
    ".tgz": "tar.gz",
    ".tar.bz2": "tar.bz2",
    ".tbz2": "tar.bz2",
}
_UNSUPPORTED = (".dmg", ".pkg", ".deb", ".rpm", ".msi", ".7z", ".rar", ".tar.xz", ".tar.zst", ".gz")


class BadAddress(Exception):
    """Nothing is fetched from there; the message says why."""


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    try:
        host = _host(url)
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check(url: str, *, loopback: bool = False) -> str:
    """Return an address that is https; `loopback` allows http on this machine, too.

    Raises `BadAddress`.
    """
    try:
        scheme = urlsplit(url).scheme
        if scheme == "https" and _host(url):
            return url
        if scheme == "http" and loopback and is_loopback(url):
            return url
    except ValueError:
        raise BadAddress(f"{url!r} is no address") from None
    raise BadAddress(f"{url!r} isn't an https address")


def next_address(url: str, location: str, *, loopback: bool = False) -> str:
    """Return where a redirect leads; raises `BadAddress` as `check` does."""
    try:
        return check(urljoin(url, location), loopback=loopback)
    except ValueError:
        raise BadAddress(f"{location!r} is no address") from None


def format_of(url: str) -> Format:
    """Return what is behind an archive's address, by its ending; raises `BadAddress`."""
    path = urlsplit(url).path.lower()
    for ending, format_ in _FORMATS.items():
        if path.endswith(ending):
            return format_
    if path.endswith(_UNSUPPORTED):
        raise BadAddress(f"{url!r} is of a kind that can't be unpacked here")
    return "raw"


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""

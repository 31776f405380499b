"""Our own version, also where the package's metadata is missing. Pure."""

from __future__ import annotations

UNKNOWN = "0+unknown"
"""The version of a copy of the files without metadata, such as an archive that was unpacked."""


def own_version() -> str:
    """Return the version of the installed package, `UNKNOWN` if nothing tells it."""
    from importlib.metadata import PackageNotFoundError, version  # here, because it is slow to load

    try:
        return version("vscodelm")
    except (PackageNotFoundError, KeyError):  # a KeyError where the metadata has no version
        return UNKNOWN

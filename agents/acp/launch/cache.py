"""The folders into which npx and uvx fetch packages: whether one is there, and how they grow."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from bridge.value import Value

from .package import LaunchedPackage

MOST_ENTRIES = 5_000
"""Files of a cache that are looked at each time."""


class Growth(Value):
    """The progress of a fetch: bytes downloaded, and files in place."""

    on_the_way: int = 0
    in_place: int = 0


def is_cached(package: LaunchedPackage, environment: Mapping[str, str]) -> bool:
    """Tell whether npx has this very version already. Of uvx it isn't known: that asks quickly."""
    if package.tool != "npx" or package.version is None or not package.version[:1].isdigit():
        return False
    digest = hashlib.sha512(package.requirement.encode()).hexdigest()[:16]  # as npm names it
    folder = _npm_cache(environment) / "_npx" / digest / "node_modules" / package.name
    try:
        about = json.loads((folder / "package.json").read_bytes())
        return bool(about.get("version") == package.version)
    except (OSError, ValueError, AttributeError):
        return False


def is_installed(package: LaunchedPackage, cwd: str, environment: Mapping[str, str]) -> bool:
    """Tell whether npx would run a program that is here: `npx NAME` fetches only where none is.

    A package of that name may be anybody's, and fetching it runs its scripts.
    """
    if package.tool != "npx" or {"@", "/"}.intersection(package.requirement):
        return False
    here = Path(cwd)
    folders = [str(one / "node_modules" / ".bin") for one in (here, *here.parents)]
    folders.append(environment.get("PATH", ""))
    return shutil.which(package.requirement, path=os.pathsep.join(folders)) is not None


def growth(package: LaunchedPackage, environment: Mapping[str, str]) -> Growth:
    """Look how far a fetch is; what can't be looked at doesn't count."""
    if package.tool == "npx":
        cache = _npm_cache(environment)
        return Growth(_size(cache / "_cacache" / "tmp"), _count(cache / "_npx"))
    cache = _uv_cache(environment)
    on_the_way = sum(_size(Path(one)) for one in _entries(cache) if ".tmp" in one)
    return Growth(on_the_way, _count(cache / "archive-v0"))


def _npm_cache(environment: Mapping[str, str]) -> Path:
    named = environment.get("npm_config_cache") or environment.get("NPM_CONFIG_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", "")) / "npm-cache"
    return Path(environment.get("HOME", "")) / ".npm"


def _uv_cache(environment: Mapping[str, str]) -> Path:
    named = environment.get("UV_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", "")) / "uv" / "cache"
    home = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "")) / ".cache"
    return Path(home) / "uv"


def _entries(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.path for entry in found]
    except OSError:
        return []


def _files(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names)


def _size(folder: Path) -> int:
    size = 0
    for path in islice(_files(folder), MOST_ENTRIES):
        with suppress(OSError):  # it was moved to its place
            size += os.path.getsize(path)
    return size


def _count(folder: Path) -> int:
    """Count the entries two levels deep, and those of `node_modules`, not each file."""
    total = 0
    for place in _entries(folder)[:MOST_ENTRIES]:
        inner = _entries(Path(place))
        total += 1 + len(inner) + len(_entries(Path(place) / "node_modules"))
    return total

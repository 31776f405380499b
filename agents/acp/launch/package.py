"""Find the package that a launcher fetches and runs: npx, npm exec, uvx or uv tool run. Pure.

We can't know all options of a launcher. If an unknown option might take a value, no package is
found, and the launcher is started like any other program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from bridge.value import Value

Tool: TypeAlias = Literal["npx", "uvx"]

_ENDING = re.compile(r"\.(?:exe|cmd|bat|ps1)\Z", re.IGNORECASE)
_SUBCOMMANDS: Mapping[tuple[str, ...], Tool] = {
    ("npx",): "npx",
    ("npm", "exec"): "npx",
    ("npm", "x"): "npx",
    ("uvx",): "uvx",
    ("uv", "tool", "run"): "uvx",
    ("uv", "x"): "uvx",
}
_NAMES_PACKAGE: Mapping[Tool, frozenset[str]] = {
    "npx": frozenset({"-p", "--package"}),
    "uvx": frozenset({"--from"}),
}
_HAS_VALUE: Mapping[Tool, frozenset[str]] = {
    "npx": frozenset({"--cache", "--loglevel", "--prefix", "--registry", "--userconfig"}),
    "uvx": frozenset(
        {"-c", "-f", "-i", "-p", "-w", "--cache-dir", "--constraints", "--default-index"}
        | {"--exclude-newer", "--extra-index-url", "--find-links", "--index", "--index-url"}
        | {"--overrides", "--prerelease", "--python", "--resolution", "--with", "--with-editable"}
    ),
}
_HAS_NONE: Mapping[Tool, frozenset[str]] = {
    "npx": frozenset(
        {"-q", "-y", "--ignore-existing", "--offline", "--prefer-offline", "--prefer-online"}
        | {"--quiet", "--silent", "--yes"}
    ),
    "uvx": frozenset(
        {"-n", "-q", "-U", "-v", "--isolated", "--native-tls", "--no-cache", "--no-config"}
        | {"--offline", "--quiet", "--refresh", "--upgrade", "--verbose"}
    ),
}


class LaunchedPackage(Value):
    """A package as the command names it: `tool` fetches it, `name` and `version` are its own.

    `fetch` is the command line that fetches it into the launcher's cache, without running it.
    """

    tool: Tool
    requirement: str
    name: str
    version: str | None
    fetch: tuple[str, ...]


def launched_package(argv: Sequence[str]) -> LaunchedPackage | None:
    """Return the package that a command fetches and runs; None if it is no such command."""
    found = _tool(argv)
    if found is None:
        return None
    tool, start = found
    requirement: str | None = None
    at = start
    while at < len(argv):
        word = argv[at]
        name, has_value, value = word.partition("=")
        if word == "--":
            at += 1
            break
        if not word.startswith("-"):
            break
        if name in _NAMES_PACKAGE[tool]:
            at += 1
            if not has_value:
                value = argv[at] if at < len(argv) else ""
                at += 1
            requirement = requirement or value
        elif has_value or name in _HAS_NONE[tool]:
            at += 1
        elif name in _HAS_VALUE[tool]:
            at += 2
        else:
            return None
    options = tuple(word for word in argv[start:at] if word != "--")
    if requirement is None and at < len(argv):
        requirement = argv[at]
        options = (*options, "--package" if tool == "npx" else "--from", requirement)
    if not requirement:
        return None
    fetch = (*argv[:start], *_FETCHING[tool], *options, *_NOTHING[tool])
    return LaunchedPackage(tool, requirement, *_parts(tool, requirement), fetch)


_FETCHING: Final[Mapping[Tool, tuple[str, ...]]] = {
    # It reports each request: without a terminal it would print nothing. And it gives up in seconds
    # where there is no network, not in a minute.
    "npx": (
        *("--yes", "--loglevel=http"),
        *("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000"),
    ),
    "uvx": (),
}
_NOTHING: Final[Mapping[Tool, tuple[str, ...]]] = {
    "npx": ("--", "node", "--version"),
    "uvx": ("python", "--version"),
}


def _tool(argv: Sequence[str]) -> tuple[Tool, int] | None:
    if not argv:
        return None
    program = _ENDING.sub("", argv[0].replace("\\", "/").rpartition("/")[2])
    for words, tool in _SUBCOMMANDS.items():
        if (program, *argv[1 : len(words)]) == words:
            return tool, len(words)
    return None


def _parts(tool: Tool, requirement: str) -> tuple[str, str | None]:
    """Return the name and the version in a launcher's package argument."""
    if tool == "npx":
        name, _, version = requirement[1:].partition("@")
        return requirement[:1] + name, version or None
    name, _, version = requirement.partition("==" if "==" in requirement else "@")
    return name.partition("[")[0], version or None


def package_name(tool: Tool, requirement: str) -> str:
    """Return the name in a launcher's package argument, without the version."""
    return _parts(tool, requirement)[0]


def is_older(version: str, than: str) -> bool:
    """Tell whether one version came before another, by their numbers; a tag has none."""
    return () < _numbers(version) < _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"[0-9]+", version[:100])[:4])

"""The command that starts an agent of the registry on this machine. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from bridge.value import Value
from bridge.wire import EnvVariable, McpServerSpec

from .index import Package, RegistryAgent
from .members import BadArchive, path_of

Distribution: TypeAlias = Literal["npx", "uvx", "binary"]
KINDS: Final[tuple[Distribution, ...]] = ("npx", "uvx", "binary")
"""The first that an agent has and the machine can run is taken."""

_SYSTEMS = {"darwin": "darwin", "linux": "linux", "windows": "windows"}
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


class LaunchSpec(Value):
    """The command that starts an agent."""

    kind: Distribution
    spec: McpServerSpec


def platform_of(system: str, machine: str) -> str:
    """Return the registry's name for a platform of Python's `platform` module."""
    os, arch = system.lower(), machine.lower()
    return f"{_SYSTEMS.get(os, os)}-{_MACHINES.get(arch, arch)}"


def kinds_of(agent: RegistryAgent, platform: str) -> tuple[Distribution, ...]:
    """Return the ways in which an agent can be had on a platform, the preferred one first."""
    return tuple(
        kind
        for kind in KINDS
        if (platform in agent.archives if kind == "binary" else kind in agent.packages)
    )


def choose(agent: RegistryAgent, platform: str, has: Callable[[str], bool]) -> Distribution | None:
    """Return the way to take; `has` tells whether a launcher is there. None: there is none."""
    kinds = kinds_of(agent, platform)
    for kind in kinds:
        if kind == "binary" or has(kind):
            return kind
    return kinds[0] if kinds else None


def launch(agent: RegistryAgent, kind: Distribution, platform: str, folder: Path) -> LaunchSpec:
    """Return how an agent is started in a way that it has; `folder` is where a binary is put.

    Raises `BadArchive` where the index names a program that would be outside of the folder.
    """
    if kind == "binary":
        archive = agent.archives[platform]
        program = folder.joinpath(*program_path(archive.cmd))
        spec = McpServerSpec(agent.id, str(program), archive.args, _variables(archive.env))
        return LaunchSpec(kind, spec)
    package = agent.packages[kind]
    args = (*_launched(kind, package), *package.args)
    return LaunchSpec(kind, McpServerSpec(agent.id, kind, args, _variables(package.env)))


def program_path(cmd: str) -> tuple[str, ...]:
    """Return the parts of a program's path in its archive; raises `BadArchive`."""
    path = path_of(cmd.replace("\\", "/"))
    if not path:
        raise BadArchive(f"the index names {cmd!r} as the program in it")
    return path


def _launched(kind: Literal["npx", "uvx"], package: Package) -> tuple[str, ...]:
    yes = ("-y",) if kind == "npx" else ()  # nobody is there to be asked
    if package.cmd is None:
        return (*yes, package.package)
    option = "--package" if kind == "npx" else "--from"
    return (*yes, option, package.package, package.cmd)


def _variables(env: Mapping[str, str]) -> tuple[EnvVariable, ...]:
    return tuple(EnvVariable(name, value) for name, value in env.items())

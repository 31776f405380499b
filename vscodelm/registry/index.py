"""The index of the registry: its agents, and how each can be installed or started. Pure.

Others write it, and it grows. So a bad entry costs only itself, and unknown fields are left out;
`RegistryIndex.notes` lists both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, cast

import msgspec

from bridge.jsonrpc import REFUSED
from bridge.value import Value

INDEX_URL: Final = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
MOST_AGENTS: Final = 10_000
"""Entries of the registry that are read."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})

PackageKind: TypeAlias = Literal["npx", "uvx"]
_PACKAGES: tuple[PackageKind, ...] = ("npx", "uvx")

# Names that become parts of paths and of command lines, so no leading dash, dot or slash.
_Id: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9-]{0,99}\Z")]
_Version: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"\A[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,98}[0-9A-Za-z])?\Z")
]
_Word: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[^-\s\x00][^\x00]*\Z")]
_Argument: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]*\Z")]
_Variable: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[^=\x00]+\Z")]
_Sha256: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-fA-F]{64}\Z")]


T = TypeVar("T")


class IndexFault(Exception):
    """It is no index at all; the message says why."""


class Package(Value):
    """A package that a launcher fetches and runs; `cmd` where the program has another name."""

    package: _Word
    cmd: _Word | None = None
    args: tuple[_Argument, ...] = ()
    env: dict[_Variable, _Argument] = msgspec.field(default_factory=dict[str, str])


class Archive(Value):
    """A program to download: `cmd` is its path in the archive, or its name if it isn't in one."""

    archive: _Word
    cmd: _Word
    args: tuple[_Argument, ...] = ()
    env: dict[_Variable, _Argument] = msgspec.field(default_factory=dict[str, str])
    sha256: _Sha256 | None = None


class _Entry(msgspec.Struct):
    id: _Id
    name: Annotated[str, msgspec.Meta(min_length=1)]
    version: _Version
    distribution: dict[str, Any]
    description: Any = ""


class RegistryAgent(Value):
    """An agent of the registry; `archives` are by platform, such as `linux-x86_64`."""

    id: str
    name: str
    version: str
    description: str
    packages: dict[PackageKind, Package]
    archives: dict[str, Archive]


class RegistryIndex(Value):
    """The agents, in the order of the index; `notes` tell what was left out."""

    agents: tuple[RegistryAgent, ...]
    notes: tuple[str, ...] = ()

    def find(self, id_: str, renamed: Mapping[str, str] = _NONE) -> RegistryAgent | None:
        """Return the agent of that id; `renamed` says which newer ones older ids stand for."""
        by_id = {agent.id: agent for agent in self.agents}
        older = (old for old, new in renamed.items() if new == id_)
        names = (id_, renamed.get(id_, id_), *older)
        return next((by_id[name] for name in names if name in by_id), None)


def read_index(data: bytes) -> RegistryIndex:
    """Return the index that the registry's JSON holds; raises `IndexFault`."""
    try:
        whole: Any = msgspec.json.decode(data)
    except REFUSED as error:
        raise IndexFault(f"it isn't JSON ({error})") from None
    entries: Any = cast("dict[str, Any]", whole).get("agents") if isinstance(whole, dict) else None
    if not isinstance(entries, list):
        raise IndexFault("it has no list `agents`")
    agents: dict[str, RegistryAgent] = {}
    notes: list[str] = []
    for index, entry in enumerate(cast("list[Any]", entries)[:MOST_AGENTS]):
        where = f"`agents[{index}]`"
        try:
            agent = _agent(entry, where, notes)
        except msgspec.ValidationError as error:
            notes.append(f"{where} is left out: {error}")
            continue
        if agent is None:
            notes.append(f"{where} is left out: this version can start none of its distributions")
        elif agents.setdefault(agent.id, agent) is not agent:
            notes.append(f"{where} is left out: the id {agent.id} is used twice")
    return RegistryIndex(tuple(agents.values()), tuple(notes))


def _agent(entry: Any, where: str, notes: list[str]) -> RegistryAgent | None:
    read = msgspec.convert(entry, _Entry)
    packages: dict[PackageKind, Package] = {}
    archives: dict[str, Archive] = {}
    for kind, way in read.distribution.items():
        place = f"{where}.distribution.{kind}"
        if kind in _PACKAGES:
            package = _good(Package, way, place, notes)
            if package is not None:
                packages[kind] = package
        elif kind == "binary" and isinstance(way, dict):
            for platform, one in cast("dict[str, Any]", way).items():
                archive = _good(Archive, one, f"{place}.{platform}", notes)
                if archive is not None:
                    archives[platform] = archive
        else:
            notes.append(f"{place} is left out: its kind is unknown")
    if not packages and not archives:
        return None
    description = read.description if isinstance(read.description, str) else ""
    return RegistryAgent(read.id, read.name, read.version, description, packages, archives)


def _good(type_: type[T], value: Any, where: str, notes: list[str]) -> T | None:
    """Return the value as that type; note why it isn't one."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        notes.append(f"{where} is left out: {error}")
        return None

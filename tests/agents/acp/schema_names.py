"""Every name in a schema of ACP, and those of them that our table lacks, or has in vain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.acp.schema import coverage
from agents.acp.schema.coverage import CoverageRow

JSON = dict[str, Any]


def differences(stable: JSON, unstable: JSON) -> list[str]:
    """Return what is different in the definitions of the schema and in the table, in words."""
    found: list[str] = []
    for what, entries, names in (
        ("method", coverage.METHODS, _methods),
        ("update", coverage.UPDATES, _updates),
        ("capability of ours", coverage.CLIENT_CAPABILITIES, _ours),
        ("capability of agents", coverage.AGENT_CAPABILITIES, _agents),
    ):
        there, stable_there = names(unstable), names(stable)
        found += _compare(what, entries, there | stable_there, stable_there)
    return found


def _compare(
    what: str,
    entries: Iterable[CoverageRow],
    there: set[tuple[str, str]],
    stable: set[tuple[str, str]],
) -> list[str]:
    here: dict[tuple[str, str], CoverageRow] = {entry.key: entry for entry in entries}
    lacks = [f"the table lacks the {what} {name}" for name in sorted(there - here.keys())]
    gone = [f"the schema has no {what} {name}" for name in sorted(here.keys() - there)]
    other = [
        f"the {what} {name} is {'stable' if name in stable else 'unstable'} in the schema"
        for name in sorted(there & here.keys())
        if here[name].is_stable is not (name in stable)
    ]
    return [*lacks, *gone, *other]


def _methods(definitions: JSON) -> set[tuple[str, str]]:
    return {(one["x-side"], one["x-method"]) for one in definitions.values() if "x-method" in one}


def _updates(definitions: JSON) -> set[tuple[str, str]]:
    variants = definitions["SessionUpdate"]["oneOf"]
    return {("", one["properties"]["sessionUpdate"]["const"]) for one in variants}


def _ours(definitions: JSON) -> set[tuple[str, str]]:
    return {("", name) for name in _leaves(definitions, "ClientCapabilities")}


def _agents(definitions: JSON) -> set[tuple[str, str]]:
    return {("", name) for name in _leaves(definitions, "AgentCapabilities")}


def _leaves(definitions: JSON, name: str) -> list[str]:
    """Return the paths of the properties that have no properties themselves."""
    found: list[str] = []
    for key, value in definitions[name].get("properties", {}).items():
        if key == "_meta":
            continue
        parts = [*value.get("allOf", ()), *value.get("anyOf", ()), value]
        kinds = [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]
        within = [path for kind in kinds for path in _leaves(definitions, kind)]
        found += [f"{key}.{path}" for path in within] or [key]
    return found

"""The protocol's own schema, as an oracle; it is shared by those who build this, not part of it."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

JSON = dict[str, Any]
_ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("VSCODELM_SHARED", _ROOT.parent / "shared"))
_FOLDER = SHARED / "fixtures" / "acp"

HAS_SCHEMA = _FOLDER.is_dir()
needs_schema = pytest.mark.skipif(
    not HAS_SCHEMA, reason=f"no schema of ACP in {_FOLDER}; VSCODELM_SHARED names the folder"
)


@functools.cache
def definitions(stability: str = "stable") -> JSON:
    """Return every definition by name; "unstable" has more of them."""
    name = {"stable": "schema.v1.json", "unstable": "schema.v1.unstable.json"}[stability]
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))["$defs"]


def properties(name: str) -> JSON:
    """Return the properties of a definition, of those it is made of too."""
    found: JSON = {}
    for part in _parts(definitions()[name]):
        found.update(part.get("properties", {}))
    found.pop("_meta", None)
    return found


def required(name: str) -> set[str]:
    """Return the names of the properties that must be there."""
    return {key for part in _parts(definitions()[name]) for key in part.get("required", ())}


def _parts(definition: JSON) -> list[JSON]:
    inherited = [definitions()[_target(part)] for part in definition.get("allOf", ())]
    return [definition, *(one for part in inherited for one in _parts(part))]


def _target(reference: JSON) -> str:
    return cast("str", reference["$ref"]).removeprefix("#/$defs/")


def tags(union: str) -> dict[str, str]:
    """Return the definition behind each tag of a union, "" where there is none."""
    found: dict[str, str] = {}
    definition = definitions()[union]
    for variant in definition.get("oneOf") or definition["anyOf"]:
        consts = [p["const"] for p in variant.get("properties", {}).values() if "const" in p]
        inherited = [_target(part) for part in variant.get("allOf", ())]
        for const in consts:
            found[const] = inherited[0] if inherited else ""
    return found

"""The newest schema of ACP, as the agents' packages have it: our table has every name of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.acp.schema import coverage
from tests.agents.acp.schema_names import differences

from .real_agent import MODULES

pytestmark = pytest.mark.agents

SDK = "@agentclientprotocol/sdk"
OWNERS = ("claude-agent-acp", "codex-acp")
"""The packages that bring the schema along."""


def definitions(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))["$defs"]


def resolved(owner: Path, package: str) -> Path:
    """Return the folder of a package that an owner's program gets, as Node looks for it."""
    above = (folder for folder in (owner, *owner.parents) if folder.name != "node_modules")
    places = [folder / "node_modules" / package for folder in above]
    found = next((place for place in places if (place / "package.json").is_file()), None)
    assert found is not None, f"{owner} has no {package}"
    return found


def test_a_package_is_looked_for_as_node_does(tmp_path: Path) -> None:
    outer = tmp_path / "node_modules" / "@agentclientprotocol" / "sdk"
    owner = tmp_path / "node_modules" / "@agentclientprotocol" / "codex-acp"
    inner = owner / "node_modules" / "@agentclientprotocol" / "sdk"
    owner.mkdir(parents=True)
    with pytest.raises(AssertionError, match="codex-acp has no @agentclientprotocol/sdk"):
        resolved(owner, SDK)
    for place in (outer, inner):
        place.mkdir(parents=True)
        (place / "package.json").write_text("{}", encoding="utf-8")
        assert resolved(owner, SDK) == place


@pytest.mark.parametrize("owner", OWNERS)
def test_the_table_has_every_name_of_the_schema_that_an_agent_is_built_with(owner: str) -> None:
    program = MODULES / "@agentclientprotocol" / owner
    if not program.is_dir():
        pytest.skip(f"{owner} isn't installed: {program}")
    sdk = resolved(program, SDK)
    version = json.loads((sdk / "package.json").read_text(encoding="utf-8"))["version"]
    assert coverage.REVISION.startswith(f"`{SDK}` {version},"), f"{owner} has {version}"
    folder = sdk / "schema" / "v1"
    stable, unstable = folder / "schema.json", folder / "schema.unstable.json"
    assert differences(definitions(stable), definitions(unstable)) == []

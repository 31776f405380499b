"""The newest schema of ACP, as the agents' packages have it: our table has every name of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.schema_names import differences

from .real_agent import MODULES

pytestmark = pytest.mark.agents

FOLDER = Path("node_modules", "@agentclientprotocol", "sdk", "schema", "v1")
OWNERS = ("claude-agent-acp", "codex-acp")
"""The packages that bring the schema along."""


def definitions(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))["$defs"]


@pytest.mark.parametrize("owner", OWNERS)
def test_the_table_has_every_name_of_the_schema_that_an_agent_is_built_with(owner: str) -> None:
    folder = MODULES / "@agentclientprotocol" / owner / FOLDER
    if not folder.is_dir():
        pytest.skip(f"{owner} isn't installed with a schema: {folder}")
    stable, unstable = folder / "schema.json", folder / "schema.unstable.json"
    assert differences(definitions(stable), definitions(unstable)) == []

"""The one list of agents: everything that names one of them agrees with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.acp.launch.ready_agents import ReadyAgent, ready_agents, ready_package, renamed
from tests.real.agents import ALL_AGENTS
from tooling.real_agents import FOLDER, NPM, PROGRAMS
from vscodelm.registry.index import read_index
from vscodelm.registry.local import ready_offers

ROOT = Path(__file__).parents[4]
MANIFEST = json.loads((ROOT / "extension" / "package.json").read_text(encoding="utf-8"))
ENTRY: dict[str, Any] = MANIFEST["contributes"]["configuration"]["properties"]["vscodelm.agents"][
    "additionalProperties"
]
IDS = [agent.id for agent in ready_agents()]


def test_an_agent_is_found_by_its_package() -> None:
    agent = ready_package("@google/gemini-cli")
    assert agent is not None
    assert agent.requirement == f"@google/gemini-cli@{agent.version}"
    assert ready_package("@google/other") is None


def test_the_settings_offer_each_of_them_by_its_id_and_its_name() -> None:
    offered = ENTRY["properties"]["registry"]["anyOf"][0]
    names = dict(zip(offered["enum"], offered["enumDescriptions"], strict=True))
    assert {id_: name for id_, name in names.items() if id_ not in renamed()} == {
        agent.id: agent.name for agent in ready_agents()
    }
    snippets = ENTRY["defaultSnippets"]
    labels = {one["body"].get("registry"): one["label"] for one in snippets}
    assert [id_ for id_ in labels if id_ is not None] == IDS
    assert [labels[id_] for id_ in IDS] == [agent.name for agent in ready_agents()]


def test_the_registry_would_take_each_of_them() -> None:
    """What is in the list goes the way of what the registry offers, so it must be as good."""
    entries = [
        {
            "id": agent.id,
            "name": agent.name,
            "version": agent.version,
            "description": agent.description,
            "distribution": {"npx": {"package": agent.requirement, "args": [*agent.arguments]}},
        }
        for agent in ready_agents()
    ]
    index = read_index(json.dumps({"agents": entries}).encode())
    assert index.notes == ()
    assert index.agents == ready_offers()


def test_each_of_them_is_installed_and_tested_in_its_version() -> None:
    assert all(NPM[PROGRAMS.get(one.package, one.package)] == one.version for one in ready_agents())
    tested = {agent.ready: agent.version for agent in ALL_AGENTS if agent.ready is not None}
    assert tested == {agent.id: agent.version for agent in ready_agents()}


@pytest.mark.agents
@pytest.mark.parametrize(
    "agent",
    [agent for agent in ready_agents() if agent.package not in PROGRAMS],
    ids=lambda agent: agent.id,
)
def test_the_list_says_which_node_the_installed_package_needs(agent: ReadyAgent) -> None:
    """As much as the package and those that it is made of ask for."""
    modules = FOLDER / "npm" / "node_modules"

    def read(name: str) -> dict[str, Any]:
        return json.loads((modules / name / "package.json").read_text(encoding="utf-8"))

    package = read(agent.package)
    assert package["version"] == agent.version
    needs = [
        one.get("engines", {}).get("node")
        for one in (
            package,
            *map(read, package.get("dependencies", ())),
        )
    ]
    majors = [int(need.strip(">=v ^~").partition(".")[0]) for need in needs if need]
    assert max(majors, default=0) <= (agent.node or 0)


@pytest.mark.parametrize("agent", ready_agents(), ids=lambda agent: agent.id)
def test_no_name_changes_the_tools_with_which_the_editor_edits(agent: ReadyAgent) -> None:
    """VS Code decides by these words in the displayed name of a model."""
    assert not any(word in agent.name.lower() for word in ("gpt", "openai", "sonnet"))

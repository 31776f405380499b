"""How a real agent is told to editors that aren't written in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from .agents import AGENTS
from .program import definition
from .real_agent import RealAgent


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_lives_in_a_world_of_its_own_and_works_where_the_editor_says(
    agent: RealAgent, tmp_path: Path
) -> None:
    acp = definition(agent, tmp_path, "http://127.0.0.1:9")["acp"]
    environment = {one["name"]: one["value"] for one in acp["env"]}
    assert environment["HOME"] == str(tmp_path)
    assert "PATH" in environment
    assert environment.items() >= dict(agent.environment(tmp_path, "http://127.0.0.1:9")).items()
    assert acp["command"] == agent.argv[0]
    assert "cwd" not in acp

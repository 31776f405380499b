"""The table of how real agents go on."""

from __future__ import annotations

from .agents import AGENTS
from .continuity import CONTINUITY


def test_it_tells_of_every_agent_that_is_tested() -> None:
    assert list(CONTINUITY) == [agent.name for agent in AGENTS]

"""The agents that the checks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .real_agent import RealAgent
from .stage import Stage


@pytest.fixture(scope="session")
def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """Yield where the checks of an agent are carried out; it starts with the first of them."""
    agent: RealAgent = request.param
    stage = Stage(agent, lambda: tmp_path_factory.mktemp(agent.name))
    yield stage
    stage.close()

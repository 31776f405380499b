"""The agents that the checks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .checks import is_short
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of the agents that the short form doesn't install out of it."""
    for item in items:
        call = getattr(item, "callspec", None)
        agents = [one for one in call.params.values() if isinstance(one, RealAgent)] if call else []
        if not all(is_short(agent) for agent in agents):
            item.add_marker(pytest.mark.thorough)

"""The agents that vscodelm is tested with, each in the version that it is tested with.

`ready_agents.json` is the only list of them. The extension and the command line offer its entries,
and the tests with real agents install and start them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from bridge.value import Value

_FILE = Path(__file__).with_name("ready_agents.json")


class ReadyAgent(Value):
    """An agent that npx starts. `node` is the oldest major version of Node that runs it, if any
    is needed. `secrets` names the variables that may hold its keys. `formerly` has the ids that
    it had before.
    """  # noqa: D205  one sentence

    id: str
    name: str
    description: str
    package: str
    version: str
    arguments: tuple[str, ...]
    node: int | None
    secrets: tuple[str, ...]
    formerly: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The package with its version, as npx takes it."""
        return f"{self.package}@{self.version}"


@cache
def ready_agents() -> tuple[ReadyAgent, ...]:
    """Return the list, in the order in which it is shown."""
    return msgspec.json.decode(_FILE.read_bytes(), type=tuple[ReadyAgent, ...])


@cache
def renamed() -> dict[str, str]:
    """Return the present ids of agents by their former ids."""
    return {old: agent.id for agent in ready_agents() for old in agent.formerly}


def ready_agent(id_: str) -> ReadyAgent | None:
    """Return the agent of an id, which may be a former one."""
    newest = renamed().get(id_, id_)
    return next((agent for agent in ready_agents() if agent.id == newest), None)


def ready_package(name: str) -> ReadyAgent | None:
    """Return the agent that a package of npm holds, if it is one of the list."""
    return next((agent for agent in ready_agents() if agent.package == name), None)

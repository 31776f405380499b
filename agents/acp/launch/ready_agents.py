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
    is needed. `secrets` names the variables that may hold its keys.
    """  # noqa: D205  one sentence

    id: str
    name: str
    description: str
    package: str
    version: str
    arguments: tuple[str, ...]
    node: int | None
    secrets: tuple[str, ...]

    @property
    def requirement(self) -> str:
        """The package with its version, as npx takes it."""
        return f"{self.package}@{self.version}"


@cache
def ready_agents() -> tuple[ReadyAgent, ...]:
    """Return the list, in the order in which it is shown."""
    return msgspec.json.decode(_FILE.read_bytes(), type=tuple[ReadyAgent, ...])


def ready_package(name: str) -> ReadyAgent | None:
    """Return the agent that a package of npm holds, if it is one of the list."""
    return next((agent for agent in ready_agents() if agent.package == name), None)

"""A real agent for tests that aren't written in Python: its model server, and how it is started.

    python -m tests.real.program LOG NAME HOME

Its line is what an editor configures for the agent, which works where the editor says. It keeps
everything that the model is asked, and fails if in the end a process of the agent's is left.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import trio

from tests.fakes.program import kept_in, ready_until_the_input_ends

from .agents import ALL_AGENTS
from .bench import alone
from .model_server import model_server
from .real_agent import RealAgent, bare_environment

JSON = dict[str, Any]


def definition(agent: RealAgent, home: Path, url: str) -> JSON:
    """Return how it is started, in a world of its own."""
    acp: JSON = agent.definition(home, home, url)["acp"]
    del acp["cwd"]
    bare = [{"name": key, "value": value} for key, value in bare_environment(home).items()]
    return {"acp": acp | {"env": [*bare, *acp["env"]]}}


async def main(log: Path, agent: RealAgent, home: Path) -> None:
    """Serve its model until the input ends."""
    with kept_in(log) as keep:
        async with alone(home), model_server(keep=keep) as server:
            await ready_until_the_input_ends(json.dumps(definition(agent, home, server.url)))


if __name__ == "__main__":
    log, name, home = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    (wanted,) = (agent for agent in ALL_AGENTS if agent.name == name)
    reason = wanted.why_missing()
    if reason is not None:
        sys.exit(f"{name} isn't installed: {reason}")
    home.mkdir(parents=True)
    trio.run(main, log, wanted, home)

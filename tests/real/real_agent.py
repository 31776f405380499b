"""What is known of a real agent: how it starts with our model server, and what it lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from tooling.real_agents import FOLDER, MISSING

JSON = dict[str, Any]

MODULES = FOLDER / "npm" / "node_modules"


@attrs.frozen
class RealAgent:
    """An agent that asks a model. `settings` writes what it reads from its home."""

    name: str
    version: str
    dialect: str
    """What it speaks with its model."""
    part: str
    """What must be installed for it."""
    argv: tuple[str, ...]
    environment: Callable[[Path, str], Mapping[str, str]]
    """From its home and the model server's address."""
    ready: str | None = None
    """Its id in the list of agents that vscodelm comes with."""
    settings: Callable[[Path, str], None] = lambda home, url: None
    processes_for_two: int = 1
    """How many processes two sessions need."""
    asking_mode: str | None = None
    """The mode in which it asks the user, where by itself it decides without."""
    other_model: str | None = None
    """What `settings.model` may name beside the one that it has by itself."""
    offers: tuple[str, ...] | None = None
    """The choices of more than one value that it must offer, by the picker's keys; None: any."""
    offers_no_more: tuple[str, ...] = ()
    """Those whose first value it takes off its list when another is chosen."""
    choices: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """What is chosen in place of the last value that it offers, by the picker's keys."""
    tells_usage: bool = True
    stops_when_denied: bool = False
    """Whether a denial ends its turn, rather than being told to the model."""
    calls_one_by_one: bool = False
    """Whether it waits for the result of an editor's tool before it calls the next one."""
    asks_for_editor_tools: bool = False
    """Whether it asks before an editor's tool, in a question that doesn't tell which."""
    tells_failures: bool = False
    """Whether a model that fails is told soon, and not tried again for a minute."""
    drops_of_schemas: frozenset[str] = frozenset()
    """Keywords in the schemas of tools that it doesn't tell its model."""
    adds_to_schemas: JSON = attrs.field(factory=dict[str, Any])
    """What it says of every tool's arguments that we don't."""
    failures: Mapping[int, str] = attrs.field(factory=dict[int, str])
    """Statuses of its model that it tells as an answer, with words of it."""
    lacks: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """Checks that it can't pass, and further abilities, each with the reason."""

    def why_missing(self) -> str | None:
        """Return why it isn't installed, where that can't be helped."""
        reasons: dict[str, str] = json.loads(MISSING.read_text(encoding="utf-8"))
        return reasons.get(self.part)

    def definition(self, home: Path, work: Path, url: str) -> JSON:
        """Return what an editor configures for it."""
        self.settings(home, url)
        environment = self.environment(home, url)
        return {
            "acp": {
                "name": self.name,
                "command": self.argv[0],
                "args": [*self.argv[1:]],
                "env": [{"name": key, "value": value} for key, value in environment.items()],
                "cwd": str(work),
            }
        }


def bare_environment(home: Path) -> dict[str, str]:
    """Return all that a process gets to see of this machine."""
    passed = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONDONTWRITEBYTECODE")
    mine = {key: os.environ[key] for key in passed if key in os.environ}
    # Claude Code refuses to work for root, but in a sandbox.
    return mine | {"HOME": str(home), "TMPDIR": str(home), "IS_SANDBOX": "1", "COLUMNS": "500"}


def write(path: Path, text: str) -> None:
    """Write a file that an agent reads from its home, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

"""Kilo, a fork of OpenCode."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import KILO as PACKAGES

from ..real_agent import JSON, RealAgent, write
from .opencode import opencode_settings

((_PACKAGE, _VERSION),) = PACKAGES.items()


def _settings(home: Path, url: str) -> None:
    settings: JSON = json.loads(opencode_settings(url))
    settings["permission"] = {"*": "ask", "bash": "ask", "edit": "ask"}
    write(home / ".config" / "kilo" / "kilo.json", json.dumps(settings))


KILO = RealAgent(
    "kilo",
    _VERSION,
    "OpenAI's chat completions",
    "kilo",
    (str(FOLDER / "kilo" / "node_modules" / _PACKAGE / "bin" / "kilo"), "acp"),
    environment=lambda home, url: {
        "KILO_DISABLE_MODELS_FETCH": "1",
        "KILO_DISABLE_AUTOUPDATE": "1",
    },
    settings=_settings,
    stops_when_denied=True,
    processes_for_two=2,  # its sessions would share the tools that they are given
    adds_to_schemas={"additionalProperties": False},
)

"""Hermes. It asks before it writes a file, and before commands that it calls dangerous."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import HERMES as PACKAGE

from ..real_agent import JSON, RealAgent, write


def _settings(home: Path, url: str) -> None:
    model: JSON = {"default": "scripted", "provider": "custom", "base_url": f"{url}/v1"}
    settings: JSON = {
        "model": model | {"api_key": "none", "context_length": 128_000, "supports_vision": True},
        "approvals": {"mode": "manual"},
        # It would ask its model by itself, now and then, what is worth remembering.
        "memory": {"nudge_interval": 0},
        "skills": {"creation_nudge_interval": 0},
    }
    write(home / "hermes" / "config.yaml", json.dumps(settings))


HERMES = RealAgent(
    "hermes",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "hermes",
    (str(FOLDER / "hermes" / "bin" / "hermes-acp"),),
    environment=lambda home, url: {"HERMES_HOME": str(home / "hermes")},
    settings=_settings,
    calls_one_by_one=True,
)

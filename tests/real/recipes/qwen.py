"""Qwen Code."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import READY, node

from ..real_agent import JSON, MODULES, RealAgent, write


def _settings(home: Path, url: str) -> None:
    settings: JSON = {
        # Or its model would be shown the tools of servers only when it has searched for them.
        "tools": {"toolSearch": {"enabled": False}},
        # It shows images only to models that it knows, or of which it is told so.
        "model": {"generationConfig": {"modalities": {"image": True}}},
    }
    write(home / ".qwen" / "settings.json", json.dumps(settings))


QWEN = RealAgent(
    "qwen",
    READY["qwen-code"].version,
    "OpenAI's chat completions",
    "npm",
    (
        *(str(node()), str(MODULES / "@qwen-code/qwen-code/cli-entry.js")),
        *("--acp", "--auth-type=openai"),
    ),
    environment=lambda home, url: {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
    },
    settings=_settings,
    ready="qwen-code",
    offers=("mode",),
    choices={"mode": "plan"},
    stops_when_denied=True,
    calls_one_by_one=True,
    asking_mode="default",
    tells_usage=False,
)

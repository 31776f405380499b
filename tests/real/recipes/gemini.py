"""Gemini CLI."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import READY, node

from ..real_agent import JSON, MODULES, RealAgent, write


def _settings(home: Path, url: str) -> None:
    settings: JSON = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    write(home / ".gemini" / "settings.json", json.dumps(settings))


GEMINI = RealAgent(
    "gemini",
    READY["gemini"].version,
    "Google's Gemini API",
    "npm",
    (str(node()), str(MODULES / "@google/gemini-cli/bundle/gemini.js"), "--acp"),
    environment=lambda home, url: {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    settings=_settings,
    ready="gemini",
    offers=("model", "mode"),
    calls_one_by_one=True,
    lacks={"stop in text": "it forgets what was asked, if its answer is cancelled"},
    tells_usage=False,
)

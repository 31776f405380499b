"""Kimi CLI."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import KIMI as PACKAGE

from ..real_agent import JSON, RealAgent, write

_NEVER = 4e9
"""When the login ends, in seconds."""


def _settings(home: Path, url: str) -> None:
    settings = f"""
        default_model = "scripted"
        telemetry = false
        [models.scripted]
        provider = "ours"
        model = "scripted"
        max_context_size = 128000
        capabilities = ["image_in"]
        [providers.ours]
        type = "openai_legacy"
        base_url = "{url}/v1"
        api_key = "none"
    """
    write(home / ".kimi" / "config.toml", settings)
    # It wants a login, whatever the model is.
    login: JSON = {"access_token": "none", "refresh_token": "none", "expires_at": _NEVER}
    login |= {"scope": "", "token_type": "Bearer"}
    write(home / ".kimi" / "credentials" / "kimi-code.json", json.dumps(login))


KIMI = RealAgent(
    "kimi",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "kimi",
    (str(FOLDER / "kimi" / "bin" / "kimi"), "acp"),
    environment=lambda home, url: {},
    settings=_settings,
    tells_usage=False,
    stops_when_denied=True,
)

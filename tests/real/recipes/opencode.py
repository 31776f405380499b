"""OpenCode."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.real_agents import READY, TARGET

from ..real_agent import JSON, MODULES, RealAgent, write


def opencode_settings(url: str) -> str:
    """Return what OpenCode and its forks read from their folder of settings."""
    model: JSON = {"name": "Scripted", "tool_call": True, "reasoning": True, "attachment": True}
    model |= {"limit": {"context": 128_000, "output": 8_192}}
    model |= {"modalities": {"input": ["text", "image"], "output": ["text"]}}
    provider: JSON = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Ours",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    settings: JSON = {
        "autoupdate": False,
        "share": "disabled",
        "model": "ours/scripted",
        "small_model": "ours/scripted",
        "enabled_providers": ["ours"],
        "permission": {"*": "ask"},
        "provider": {"ours": provider},
    }
    return json.dumps(settings)


def _settings(home: Path, url: str) -> None:
    write(home / ".config" / "opencode" / "opencode.json", opencode_settings(url))


OPENCODE = RealAgent(
    "opencode",
    READY["opencode"].version,
    "OpenAI's chat completions",
    "npm",
    (str(MODULES / f"opencode-{TARGET}/bin/opencode"), "acp"),
    environment=lambda home, url: {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    },
    settings=_settings,
    ready="opencode",
    offers=("mode", "reasoningEffort"),
    choices={"reasoningEffort": "high"},
    stops_when_denied=True,
    processes_for_two=2,  # its sessions would share the tools that they are given
    adds_to_schemas={"additionalProperties": False},
)

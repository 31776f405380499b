"""Mistral's Vibe. Its model calls the tools of MCP servers by code."""

from __future__ import annotations

from pathlib import Path

from tooling.real_agents import FOLDER
from tooling.real_agents import VIBE as PACKAGE

from ..real_agent import RealAgent, write


def _settings(home: Path, url: str) -> None:
    settings = f"""
        active_model = "scripted"
        enable_telemetry = false
        enable_update_checks = false
        enable_auto_update = false
        enable_notifications = false
        enable_connectors = false
        [[providers]]
        name = "ours"
        api_base = "{url}/v1"
        api_key_env_var = "OUR_KEY"
        backend = "generic"
        [[models]]
        name = "scripted"
        provider = "ours"
        alias = "scripted"
        supports_images = true
        max_context_length = 128000
        [[models]]
        name = "scripted"
        provider = "ours"
        alias = "other"
        supports_images = true
        max_context_length = 128000
    """
    write(home / ".vibe" / "config.toml", settings)


VIBE = RealAgent(
    "vibe",
    PACKAGE.partition("==")[2],
    "OpenAI's chat completions",
    "vibe",
    (str(FOLDER / "vibe" / "bin" / "vibe-acp"),),
    environment=lambda home, url: {"OUR_KEY": "none"},
    settings=_settings,
    choices={"model": "other"},  # those of its own are asked over the network
    asking_mode="ask",
    calls_one_by_one=True,
    processes_for_two=2,
)

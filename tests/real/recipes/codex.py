"""Codex, by its adapter."""

from __future__ import annotations

from pathlib import Path

from tooling.real_agents import READY, node

from ..real_agent import MODULES, RealAgent, write


def _settings(home: Path, url: str) -> None:
    settings = f"""
        model = "scripted"
        model_provider = "ours"
        approval_policy = "on-request"
        sandbox_mode = "read-only"
        disable_response_storage = true
        check_for_update_on_startup = false
        [model_providers.ours]
        name = "ours"
        base_url = "{url}/v1"
        wire_api = "responses"
        env_key = "OUR_KEY"
        request_max_retries = 1
        stream_max_retries = 1
    """
    write(home / "codex" / "config.toml", settings)


CODEX = RealAgent(
    "codex",
    READY["codex-acp"].version,
    "OpenAI's Responses",
    "npm",
    (str(node()), str(MODULES / "@agentclientprotocol/codex-acp/dist/index.js")),
    environment=lambda home, url: {
        "CODEX_HOME": str(home / "codex"),
        "OUR_KEY": "none",
    },
    settings=_settings,
    ready="codex-acp",
    offers=("model", "mode"),
    offers_no_more=("model",),  # the one of our server isn't one of its own
    asking_mode="read-only",
    other_model="gpt-5.5",
    tells_failures=True,
    failures={429: "429 Too Many Requests", 500: "high demand"},
    stops_when_denied=True,  # the only refusal that it offers is an abort
    drops_of_schemas=frozenset(
        {"pattern", "format", "default", "uniqueItems", "minItems", "maxItems", "maxLength"}
        | {"minimum", "maximum", "exclusiveMinimum"}
    ),
)

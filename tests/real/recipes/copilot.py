"""GitHub Copilot CLI."""

from __future__ import annotations

from tooling.real_agents import FOLDER, READY, TARGET

from ..real_agent import MODULES, RealAgent

COPILOT = RealAgent(
    "copilot",
    READY["github-copilot-cli"].version,
    "OpenAI's chat completions",
    "npm",
    (str(MODULES / f"@github/copilot-{TARGET}/copilot"), "--acp"),
    environment=lambda home, url: {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_CACHE_HOME": str(FOLDER / "copilot"),  # it unpacks itself, which takes a while
    },
    ready="github-copilot-cli",
    offers=("mode",),
    stops_when_denied=True,
)

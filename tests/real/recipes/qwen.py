"""Qwen Code."""

from __future__ import annotations

from tooling.real_agents import READY, node

from ..real_agent import MODULES, RealAgent

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
    ready="qwen-code",
    stops_when_denied=True,
    asking_mode="default",
    tells_usage=False,
)

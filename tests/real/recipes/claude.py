"""Claude Code, by its adapter."""

from __future__ import annotations

from tooling.real_agents import READY, node

from ..real_agent import MODULES, RealAgent

CLAUDE = RealAgent(
    "claude",
    READY["claude-acp"].version,
    "Anthropic's Messages",
    "npm",
    (str(node()), str(MODULES / "@agentclientprotocol/claude-agent-acp/dist/index.js")),
    environment=lambda home, url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
    ready="claude-acp",
    offers=("model", "mode", "reasoningEffort"),
    choices={"mode": "plan"},
    asking_mode="default",
    other_model="haiku",
)

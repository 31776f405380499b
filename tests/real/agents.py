"""The real agents that the tests talk to; `recipes` has a module for each."""

from __future__ import annotations

import sys

from tooling.real_agents import FOLDER, node

from .real_agent import MODULES
from .recipes.claude import CLAUDE
from .recipes.code_puppy import CODE_PUPPY
from .recipes.codex import CODEX
from .recipes.copilot import COPILOT
from .recipes.fast_agent import FAST_AGENT
from .recipes.gemini import GEMINI
from .recipes.hermes import HERMES
from .recipes.kilo import KILO
from .recipes.kimi import KIMI
from .recipes.opencode import OPENCODE
from .recipes.openhands import OPENHANDS
from .recipes.qwen import QWEN
from .recipes.vibe import VIBE

EXAMPLES = FOLDER / "python-sdk" / "examples"

AGENTS = (
    CLAUDE,
    CODEX,
    OPENCODE,
    FAST_AGENT,
)
"""Those that are tested with everything."""
FURTHER_AGENTS = (
    GEMINI,
    COPILOT,
    QWEN,
    KILO,
    VIBE,
    KIMI,
    HERMES,
    OPENHANDS,
    CODE_PUPPY,
)
"""Those of which only the first steps are tested."""
ALL_AGENTS = (*AGENTS, *FURTHER_AGENTS)
TYPESCRIPT_EXAMPLE = (str(node()), str(MODULES / "@agentclientprotocol/sdk/dist/examples/agent.js"))
PYTHON_EXAMPLES = {
    name: (sys.executable, str(EXAMPLES / f"{name}.py")) for name in ("agent", "echo_agent")
}

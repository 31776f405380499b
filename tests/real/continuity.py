"""How each real agent goes on with a chat: measured, and held by the tests of continuity."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tooling.real_agents import TARGET

from .real_agent import MODULES
from .recipes.claude import CLAUDE
from .recipes.codex import CODEX
from .recipes.fast_agent import FAST_AGENT
from .recipes.opencode import OPENCODE


@attrs.frozen
class Continuity:
    """What an agent is asked for a session that it has, and whether it copies one."""

    after_a_restart: str
    copies: bool


CONTINUITY: Mapping[str, Continuity] = {
    CLAUDE.name: Continuity("session/resume", copies=True),
    CODEX.name: Continuity("session/resume", copies=True),
    OPENCODE.name: Continuity("session/resume", copies=True),
    FAST_AGENT.name: Continuity("session/resume", copies=False),
}

TERMINALS: Mapping[str, tuple[str, ...]] = {
    CLAUDE.name: (str(MODULES / f"@anthropic-ai/claude-agent-sdk-{TARGET}/claude"), "-p"),
    OPENCODE.name: (OPENCODE.argv[0], "run"),
}
"""How a message is sent to an agent in a terminal."""

"""Describe an agent and its session: its own words, and known facts about it. Pure."""

from __future__ import annotations

from agents.acp.launch.definition import missing_fixes
from agents.acp.login.advice import login_advice
from agents.acp.options import Choices, change_to, chosen, to_ask
from agents.acp.quirks import KnownAgent, started_by
from agents.acp.schema.initialize import AgentCapabilities, InitializeResponse
from agents.acp.schema.options import SessionConfigBoolean, SessionConfigSelect
from agents.acp.text.markdown import title_of

__all__ = [
    "AgentCapabilities",
    "Choices",
    "InitializeResponse",
    "KnownAgent",
    "SessionConfigBoolean",
    "SessionConfigSelect",
    "change_to",
    "chosen",
    "login_advice",
    "missing_fixes",
    "started_by",
    "title_of",
    "to_ask",
]

"""Read what the system prompts of VS Code's Agent Host say about a request.

The host sends no private keys. Its requests are known by their initiator, chats by the folder that
the system prompt names, sub-agents by its first sentence (docs/explanation/routing.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.history.message import Message
from bridge.wire import PROGRESS_TOOL, ChatOptions

INITIATOR = "core"
"""The initiator of requests by VS Code itself, not by an extension."""

_SESSION_FOLDER = re.compile(r"^Session folder: .*[/\\]session-state[/\\]([^/\\\s]+)", re.MULTILINE)
_SUB_AGENTS = ("As a sub-agent, complete your parent's task", "You are an exploration agent")
_SUMMARY_PROMPT = (
    "Please create a detailed summary of the conversation so far. The history is being compacted"
)


def offers_progress(options: ChatOptions) -> bool:
    """Return whether the host offers the tool that shows an answer while it grows."""
    return any(tool.name == PROGRESS_TOOL for tool in options.tools)


def session_of(lineage: Sequence[Message]) -> str | None:
    """Return the id of the chat, None if no system message names its folder."""
    found = (_SESSION_FOLDER.search(message.text) for message in lineage)
    return next((match[1] for match in found if match is not None), None)


def is_sub_agents(lineage: Sequence[Message]) -> bool:
    """Return whether the system prompt is a sub-agent's."""
    return bool(lineage) and lineage[0].text.lstrip().startswith(_SUB_AGENTS)


def asks_for_summary(path: Sequence[Message]) -> bool:
    """Return whether the newest message asks to sum the chat up, so that it can be shortened."""
    return bool(path) and path[-1].text.lstrip().startswith(_SUMMARY_PROMPT)

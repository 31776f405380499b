"""Decide whether an agent may act: by the settings, the user's rules or the user's answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from agents.events import ALWAYS_ASKED, AskPermission, Decision
from bridge.wire import PERMISSION_TOOLS, Allowed, ChatOptions, Settings, ToolResultPart

from .answers import result_text

_HARMLESS = frozenset({"read", "search", "think"})
_NAMED_KINDS = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch"})
"""Kinds of action that a rule may allow: neither the unknown ones nor a change of mode."""


def is_allowed(ask: AskPermission, rules: Sequence[Allowed]) -> bool:
    """Return whether a rule of the user allows this without a question.

    Permissions that the agent would keep for good are always asked: the user must read the note.
    """
    if ask.kind not in _NAMED_KINDS or ask.details.get("note"):
        return False
    action = ask.details.get("action")
    return any(
        rule.kind == ask.kind and (rule.action is None or rule.action == action) for rule in rules
    )


def decide(ask: AskPermission, settings: Settings, *, can_ask: bool) -> Decision | None:
    """Return the decision that `settings.permissions` makes; None: the user decides."""
    users = None if can_ask else Decision.DENIED
    match settings.permissions:
        case "ask":
            return users
        case "read_only":
            return Decision.ALLOWED if ask.kind in _HARMLESS else Decision.DENIED
        case "allow":
            return users if ask.kind in ALWAYS_ASKED else Decision.ALLOWED
        case "deny":
            return Decision.DENIED
        case _:
            assert_never(settings.permissions)


APPROVED_WITH = "Approved with option: "
"""Stands before the id of a lasting approval that the agent offers and the user chose."""
_APPROVALS = frozenset({"approved", "allow_once", "allow_always"})


def is_approval(part: ToolResultPart) -> bool:
    """Return whether a result of the permission tool approves.

    Only the word does: hosts answer a skipped or stopped call with an ordinary result, too.
    """
    text = result_text(part.result).strip()
    is_word = text.lower() in _APPROVALS or text.startswith(APPROVED_WITH)
    return not part.is_error and is_word


def chosen_option(part: ToolResultPart) -> str | None:
    """Return the id of the agent's own answer that an approval names."""
    text = result_text(part.result).strip()
    return text.removeprefix(APPROVED_WITH) if text.startswith(APPROVED_WITH) else None


def permission_tool(options: ChatOptions) -> str | None:
    """Return the name under which the host offers the tool that asks the user; None: it doesn't."""
    offered = {tool.name for tool in options.tools}
    return next((name for name in PERMISSION_TOOLS if name in offered), None)

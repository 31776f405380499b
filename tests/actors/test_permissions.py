"""Who may act: the settings, the rules of a user, and the user's answers."""

from __future__ import annotations

from typing import Any

import pytest

from actors.permissions import chosen_option, decide, is_allowed, is_approval, permission_tool
from agents.events import AskPermission, Decision, PermissionKind
from bridge.wire import (
    PERMISSION_TOOL,
    Allowed,
    ChatOptions,
    Permissions,
    Settings,
    ToolResultPart,
    ToolSpec,
)

ALLOWED, DENIED = Decision.ALLOWED, Decision.DENIED


@pytest.mark.parametrize(
    "result",
    [
        "Approved",
        "approved",
        " APPROVED\n",
        "allow_once",
        "allow_always",
        [{"type": "text", "value": "Approved"}],
        [{"type": "text", "value": "App"}, {"type": "text", "value": "roved"}],
        {"type": "text", "value": "Approved"},
    ],
)
def test_an_approval_is_the_word_however_it_is_wrapped(result: Any) -> None:
    assert is_approval(ToolResultPart("3", result))


@pytest.mark.parametrize(
    "result",
    ["", "Approved?", "Not approved", "yes", "true", True, 1, None, {}, [], [None], "reject_once"],
)
def test_anything_else_is_no_approval(result: Any) -> None:
    assert not is_approval(ToolResultPart("3", result))


def test_an_approval_may_name_an_answer_of_the_agents_own() -> None:
    part = ToolResultPart("3", [{"type": "text", "value": "Approved with option: always: x"}])
    assert is_approval(part)
    assert chosen_option(part) == "always: x"
    assert chosen_option(ToolResultPart("3", "Approved")) is None


@pytest.mark.parametrize(
    ("kind", "action", "rules", "allowed"),
    [
        ("execute", None, (), False),
        ("execute", None, (Allowed("execute"),), True),
        ("execute", "a", (Allowed("execute"),), True),
        ("execute", "a", (Allowed("execute", "a"),), True),
        ("execute", "b", (Allowed("execute", "a"),), False),
        ("execute", None, (Allowed("execute", "a"),), False),
        ("edit", "a", (Allowed("execute", "a"), Allowed("execute")), False),
        ("edit", None, (Allowed("execute"), Allowed("edit")), True),
        ("other", None, (Allowed("other"),), False),
        ("switch_mode", None, (Allowed("switch_mode"),), False),
    ],
)
def test_a_rule_allows_its_kind_or_its_action_and_nothing_that_has_no_name(
    kind: PermissionKind, action: str | None, rules: tuple[Allowed, ...], allowed: bool
) -> None:
    ask = AskPermission("1", "x", kind, {"action": action} if action else {})
    assert is_allowed(ask, rules) is allowed


def test_no_rule_allows_for_good_what_an_agent_offers_only_for_good() -> None:
    ask = AskPermission("1", "x", "execute", {"note": "Approving is for good: Always"})
    assert not is_allowed(ask, (Allowed("execute"),))


@pytest.mark.parametrize(
    ("offered", "asks_by"),
    [
        ((), None),
        (("read_file",), None),
        (("read_file", "agentAction"), "agentAction"),
        (("agentAction", PERMISSION_TOOL), PERMISSION_TOOL),
    ],
)
def test_the_user_is_asked_by_the_name_that_the_host_offers(
    offered: tuple[str, ...], asks_by: str | None
) -> None:
    options = ChatOptions(tools=tuple(ToolSpec(name) for name in offered))
    assert permission_tool(options) == asks_by


def test_a_failed_call_of_the_permission_tool_is_no_approval() -> None:
    assert not is_approval(ToolResultPart("3", "Approved", is_error=True))


@pytest.mark.parametrize(
    ("permissions", "kind", "can_ask", "decision"),
    [
        ("ask", "read", True, None),
        ("ask", "delete", True, None),
        ("ask", "read", False, DENIED),
        ("ask", "delete", False, DENIED),
        *(
            (("read_only", kind, can_ask, ALLOWED))
            for kind in ("read", "search", "think")
            for can_ask in (True, False)
        ),
        *(
            (("read_only", kind, True, DENIED))
            for kind in ("edit", "delete", "move", "execute", "fetch", "switch_mode", "other")
        ),
        ("allow", "delete", True, ALLOWED),
        ("allow", "delete", False, ALLOWED),
        ("allow", "switch_mode", True, None),
        ("allow", "switch_mode", False, DENIED),
        ("ask", "switch_mode", True, None),
        ("deny", "switch_mode", True, DENIED),
        ("deny", "read", True, DENIED),
        ("deny", "read", False, DENIED),
    ],
)
@pytest.mark.checklist(31)
def test_who_decides_on_a_permission_follows_the_settings(
    permissions: Permissions, kind: PermissionKind, can_ask: bool, decision: Decision | None
) -> None:
    """Point 31: a change of mode is no ordinary tool, it is always asked."""
    ask = AskPermission("3", "Do it", kind)
    assert decide(ask, Settings(permissions=permissions), can_ask=can_ask) is decision

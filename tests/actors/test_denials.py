"""A denial says who denied and why, in words that tell the user what to do."""

from __future__ import annotations

from typing import Any

import pytest

from actors.denials import (
    DENY,
    INTERRUPTED,
    MOST_CHARACTERS,
    NO_TOOLS,
    READ_ONLY,
    SWITCHED_OFF,
    UNANSWERED,
    denied_by_answer,
    denied_by_settings,
)
from bridge.wire import Permissions, Settings, ToolResultPart


@pytest.mark.parametrize(
    ("permissions", "offers_tools", "reason"),
    [
        ("ask", False, NO_TOOLS),
        ("ask", True, SWITCHED_OFF),
        ("allow", False, NO_TOOLS),
        ("read_only", True, READ_ONLY),
        ("deny", False, DENY),
    ],
)
def test_what_nobody_was_asked_about_is_denied_for_a_reason(
    permissions: Permissions, offers_tools: bool, reason: str
) -> None:
    settings = Settings(permissions=permissions)
    assert denied_by_settings(settings, offers_tools=offers_tools) == reason


@pytest.mark.parametrize(
    ("result", "is_error", "reason"),
    [
        (
            "The user chose to skip the tool call, they want to proceed without running it",
            False,
            "You skipped it.",
        ),
        (
            [{"type": "text", "value": "The user cancelled the tool call."}],
            False,
            "You cancelled it.",
        ),
        ("Denied by the user.", False, "You denied it."),
        ([{"type": "text", "value": "Canceled"}], False, "You cancelled it."),
        (
            "The user rejected this tool call. User feedback: The user denied permission.",
            False,
            "You skipped it.",
        ),
        (
            "The user rejected this tool call. User feedback: Use pnpm.",
            False,
            "You refused: Use pnpm.",
        ),
        (
            "The execution of this tool, or a previous tool was interrupted.",
            False,
            INTERRUPTED,
        ),
        ("It says: Canceled", False, "The editor answered: It says: Canceled"),
        ("Not\nnow", False, "The editor answered: Not now"),
        ("", False, UNANSWERED),
        ("A hook threw", True, "The editor couldn't ask you: A hook threw"),
        ("", True, "The editor couldn't ask you."),
    ],
)
def test_what_the_editor_answers_is_told_as_it_is_meant(
    result: Any, is_error: bool, reason: str
) -> None:
    assert denied_by_answer(ToolResultPart("1", result, is_error)) == reason
    assert denied_by_answer(None) == UNANSWERED


@pytest.mark.limit("actors.denials.MOST_CHARACTERS")
def test_of_a_long_answer_a_part_is_told() -> None:
    reason = denied_by_answer(ToolResultPart("1", "x" * 1000))
    assert len(reason) < MOST_CHARACTERS + 30
    assert reason.endswith("x…")

"""A denial says who denied and why, in words that tell the user what to do."""

from __future__ import annotations

from typing import Any

import pytest

from actors.denials import (
    IN_CHAT,
    MOST_CHARACTERS,
    STOPPED_FIRST,
    TO_PROGRAM,
    cannot_ask,
    denied_by_answer,
    denied_by_settings,
)
from bridge.wire import Permissions, Settings, ToolResultPart

UNANSWERED = "The editor gave no answer to the question."
CHATS_OWN = ("Agent mode", "chat", "setting", "Switch", "command", "editor", "---")
"""Words for what no program has."""


@pytest.mark.parametrize(
    ("permissions", "offers_tools", "reason"),
    [
        ("ask", False, IN_CHAT.no_tools),
        ("ask", True, IN_CHAT.switched_off),
        ("allow", False, IN_CHAT.no_tools),
        ("read_only", True, IN_CHAT.read_only),
        ("deny", False, IN_CHAT.deny),
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
            STOPPED_FIRST,
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


@pytest.mark.parametrize("permissions", ["ask", "read_only", "deny"])
@pytest.mark.parametrize("offers_tools", [True, False])
def test_a_program_is_told_of_nothing_that_only_a_chat_has(
    permissions: Permissions, offers_tools: bool
) -> None:
    words = TO_PROGRAM
    settings = Settings(permissions=permissions)
    told = [
        denied_by_settings(settings, offers_tools=offers_tools, words=words),
        cannot_ask("Your name?", shows_forms=False, is_read=True, words=words) or "",
        denied_by_answer(None, words),
        denied_by_answer(ToolResultPart("1", "No"), words),
        denied_by_answer(ToolResultPart("1", "It broke", is_error=True), words),
    ]
    assert [text for text in told if any(word in text for word in CHATS_OWN)] == []
    assert told[1:] == [
        "\n\n⚠️ The agent asked for your input, but this client can't show a form, so it was "
        "declined: Your name?\n\n",
        "The client gave no answer to the question.",
        "The client answered: No",
        "The client couldn't ask you: It broke",
    ]


def test_the_sentence_cannot_change_what_is_around_it() -> None:
    said = cannot_ask("# [x](command:rm)\n\n" + "y" * 900, shows_forms=False, is_read=True)
    assert said is not None
    assert r"declined: # \[x\](command:rm) yyy" in said
    assert len(said) < 400
    assert cannot_ask("", shows_forms=True, is_read=True) is None

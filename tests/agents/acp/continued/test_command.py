"""`/continue` counts only while the user has said nothing else."""

from __future__ import annotations

import pytest

from agents.acp.continued.command import Wish, wish_in
from bridge.wire import ChatMessage, TextPart, ToolResultPart


def user(text: str) -> ChatMessage:
    return ChatMessage("user", (TextPart(text),))


def agent(text: str) -> ChatMessage:
    return ChatMessage("assistant", (TextPart(text),))


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("/continue", Wish()),
        ("  /continue\n", Wish()),
        ("/continue  ab-1#x ", Wish("ab-1#x")),
        ("<context>\nToday\n</context>\n<userRequest>\n/continue ab\n</userRequest>", Wish("ab")),
        ("/continue ab cd", None),
        ("/continued", None),
        ("/CONTINUE ab", None),
        ("please /continue ab", None),
        ("continue ab", None),
        ("", None),
    ],
)
def test_a_command_is_the_whole_message(text: str, wish: Wish | None) -> None:
    assert wish_in([user(text)]) == wish


def test_the_newest_of_several_commands_counts() -> None:
    chat = [ChatMessage("system", (TextPart("You are."),)), user("/continue"), agent("a list")]
    assert wish_in([*chat, user("/continue b")]) == Wish("b")


def test_a_chat_in_which_something_else_was_said_has_no_commands() -> None:
    said = [user("Hello"), agent("Hi")]
    result = ChatMessage("user", (ToolResultPart("1", ()),))
    assert wish_in([*said, user("/continue b")]) is None
    assert wish_in([user("/continue b"), user("Hello")]) is None
    assert wish_in([result, user("/continue b")]) is None
    assert wish_in([]) is None
    assert wish_in([agent("Hi")]) is None


def test_what_the_host_says_of_itself_before_is_nothing_of_the_users() -> None:
    host = user(
        "<environment_info>\nLinux\n</environment_info>\n<workspace_info>\nx\n</workspace_info>"
    )
    asked = user("<context>\nToday\n</context>\n<userRequest>\n/continue ab\n</userRequest>")
    assert wish_in([host, asked]) == Wish("ab")
    assert wish_in([host]) is None
    summary = user("<conversation-summary>\nWe spoke.\n</conversation-summary>")
    assert wish_in([summary, asked]) is None

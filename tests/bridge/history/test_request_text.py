"""What a user message asks, in the shapes that were recorded from VS Code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.request_text import BOILERPLATE, REQUEST_TAGS, request_text
from bridge.wire import ChatMessage, DataPart, Part, Role, TextPart, ThinkingPart, ToolResultPart


def user(*parts: Part | str) -> ChatMessage:
    content = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return ChatMessage("user", content)


plain_text = st.text().filter(lambda text: "<" not in text)


def test_plain_text_is_taken_as_it_is() -> None:
    assert request_text(user(" Hello,\n", "world ")) == " Hello,\nworld "


@pytest.mark.parametrize("tag", REQUEST_TAGS)
def test_what_the_host_wraps_is_unwrapped(tag: str) -> None:
    message = user(
        f"<context>\nIt is Monday.\n</context>\n<reminderInstructions>\nBe good.\n"
        f"</reminderInstructions>\n<{tag}>\nHello!\n</{tag}>\n"
    )
    assert request_text(message) == "Hello!"


def test_the_last_of_several_requests_counts() -> None:
    text = "<userRequest>one</userRequest> <prompt>two</prompt> <userRequest>three</userRequest>"
    assert request_text(user(text)) == "three"
    assert request_text(user(text[: text.index(" <userRequest>")])) == "two"


def test_a_tag_in_the_users_own_text_is_text() -> None:
    asked = "What does <prompt>hi</prompt> mean, or a lone </userRequest> or <user_query>?"
    assert request_text(user(f"<userRequest>\n{asked}\n</userRequest>\n")) == asked


@pytest.mark.parametrize("text", ["<userRequest>open", "closed</userRequest>", "</prompt><prompt>"])
def test_a_tag_without_its_other_half_is_text(text: str) -> None:
    assert request_text(user(text)) == text


def test_an_image_between_the_texts_is_passed_over() -> None:
    image = DataPart("image/png", b"\x89PNG")
    message = user(
        "<attachments>\n", image, "\n</attachments>\n<userRequest>\nWhat?\n</userRequest>"
    )
    assert request_text(message) == "What?"


@pytest.mark.parametrize("tag", BOILERPLATE)
def test_the_hosts_facts_about_the_machine_say_nothing(tag: str) -> None:
    assert request_text(user(f"\n{tag}\nLinux\n")) is None


def test_a_request_after_the_hosts_facts_is_heard() -> None:
    message = user("<environment_info>Linux</environment_info><userRequest>Hi</userRequest>")
    assert request_text(message) == "Hi"


@pytest.mark.parametrize(
    "message",
    [
        user(),
        user(""),
        user(" \n"),
        user("<userRequest>\n</userRequest>"),
        user(ToolResultPart("call-1", [{"type": "text", "value": "42"}])),
        user(ThinkingPart("hm"), DataPart("image/png", b"")),
    ],
)
def test_a_message_without_a_word_says_nothing(message: ChatMessage) -> None:
    assert request_text(message) is None


def test_text_beside_a_tool_result_is_heard() -> None:
    assert request_text(user(ToolResultPart("call-1"), "And now?")) == "And now?"


@pytest.mark.parametrize("role", ["assistant", "system"])
def test_only_users_ask(role: Role) -> None:
    assert request_text(ChatMessage(role, (TextPart("<userRequest>Hi</userRequest>"),))) is None


@given(plain_text, plain_text, st.sampled_from(REQUEST_TAGS))
def test_wrapping_a_request_does_not_change_it(before: str, asked: str, tag: str) -> None:
    wrapped = request_text(user(f"{before}<{tag}>\n{asked}\n</{tag}>\n"))
    assert wrapped == (asked.strip() or None)


@given(st.text(), st.integers(0, 20))
def test_how_text_is_cut_into_parts_does_not_matter(text: str, cut: int) -> None:
    assert request_text(user(text[:cut], text[cut:])) == request_text(user(text))

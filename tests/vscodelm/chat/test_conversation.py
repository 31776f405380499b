"""A chat as its user sees it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import LocalError
from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.strategies import chunkings
from vscodelm.chat.conversation import NothingSaid, TerminalConversation


def user(*parts: Part | str) -> ChatMessage:
    return ChatMessage("user", _parts(parts))


def assistant(*parts: Part | str) -> ChatMessage:
    return ChatMessage("assistant", _parts(parts))


def _parts(parts: Sequence[Part | str]) -> tuple[Part, ...]:
    return tuple(TextPart(part) if isinstance(part, str) else part for part in parts)


def call(call_id: str) -> ToolCallPart:
    return ToolCallPart(call_id, "current_time", {})


def result(call_id: str) -> ToolResultPart:
    return ToolResultPart(call_id, [TextPart("noon")])


def answered(question: str, *answer: Part) -> TerminalConversation:
    conversation = TerminalConversation()
    conversation.ask(question)
    for part in answer:
        conversation.hear(part)
    conversation.settle()
    return conversation


def test_an_answer_becomes_one_message_with_its_text_joined_and_its_calls_last() -> None:
    conversation = answered("Hi", TextPart("One "), call("1"), TextPart("moment."))
    assert conversation.messages == [user("Hi"), assistant("One moment.", call("1"))]


def test_what_is_only_for_the_screen_is_not_said_back() -> None:
    conversation = answered("Hi", ThinkingPart("Hm."), DataPart("usage", b"{}"), TextPart("Hello"))
    assert conversation.messages == [user("Hi"), assistant("Hello")]


def test_an_answer_that_says_nothing_leaves_no_message() -> None:
    assert answered("Hi").messages == [user("Hi")]


def test_what_was_heard_before_a_stop_stands() -> None:
    conversation = answered("Hi", TextPart("I was go"))
    conversation.ask("Stop")
    assert conversation.messages == [user("Hi"), assistant("I was go"), user("Stop")]


def test_settling_returns_the_calls_that_wait_until_they_are_answered() -> None:
    conversation = answered("Time?", call("1"), call("2"))
    assert conversation.settle() == (call("1"), call("2"))
    conversation.answer([result("1"), result("2")])
    assert conversation.settle() == ()
    assert conversation.messages[-1] == user(result("1"), result("2"))


@pytest.mark.parametrize("given_ids", [[], ["1"], ["1", "1"], ["1", "3"], ["1", "2", "3"]])
def test_results_must_fit_the_calls_that_wait(given_ids: list[str]) -> None:
    conversation = answered("Time?", call("1"), call("2"))
    before = list(conversation.messages)
    with pytest.raises(LocalError):
        conversation.answer([result(call_id) for call_id in given_ids])
    assert conversation.messages == before


def test_who_goes_on_without_answering_a_call_answers_it_with_an_error() -> None:
    conversation = answered("Time?", call("1"))
    conversation.ask("Never mind")
    first, said = conversation.messages[-1].content
    assert isinstance(first, ToolResultPart)
    assert (first.tool_call_id, first.is_error, said) == ("1", True, TextPart("Never mind"))


def test_a_retry_takes_back_the_answer_with_all_that_it_called_for() -> None:
    conversation = answered("Time?", TextPart("Let me see"), call("1"))
    conversation.answer([result("1")])
    conversation.hear(TextPart("It is noon."))
    conversation.settle()
    conversation.retry()
    assert conversation.messages == [user("Time?")]


def test_an_edit_replaces_the_last_question_and_what_followed_it() -> None:
    conversation = answered("Hi", TextPart("Hello"))
    conversation.ask("I am sda")
    conversation.hear(TextPart("Sda?"))
    conversation.edit("I am sad")
    assert conversation.messages == [user("Hi"), assistant("Hello"), user("I am sad")]
    assert conversation.question == "I am sad"


def test_an_edit_keeps_the_results_that_the_question_came_with() -> None:
    conversation = answered("Time?", call("1"))
    conversation.ask("Never mnd")
    conversation.edit("Never mind")
    kept, said = conversation.messages[-1].content
    assert isinstance(kept, ToolResultPart)
    assert said == TextPart("Never mind")


def test_before_anything_was_said_there_is_nothing_to_retry_or_edit() -> None:
    conversation = TerminalConversation()
    assert conversation.question is None
    with pytest.raises(NothingSaid):
        conversation.retry()
    with pytest.raises(NothingSaid):
        conversation.edit("Hi")


@given(st.text(min_size=1, max_size=12).flatmap(lambda t: st.tuples(st.just(t), chunkings(t))))
def test_how_an_answer_was_cut_makes_no_difference(drawn: tuple[str, list[str]]) -> None:
    whole, pieces = drawn
    assert (
        answered("Hi", *(TextPart(piece) for piece in pieces)).messages
        == answered("Hi", TextPart(whole)).messages
    )


# What a user may do, in any order: say something and hear an answer with this text and this many
# calls, stop before the results or give them, take back, say it differently.
_steps = st.lists(
    st.tuples(
        st.sampled_from(["ask", "retry", "edit"]),
        st.text("ab", max_size=2),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=12,
)


@given(_steps)
def test_whatever_the_user_does_every_call_has_its_result_before_they_speak_again(
    steps: list[tuple[str, str, int, bool]],
) -> None:
    conversation = TerminalConversation()
    conversation.ask("Hi")
    for number, (what, text, calls, gives_results) in enumerate(steps):
        question = f"question {number}"
        match what:
            case "ask":
                conversation.ask(question)
            case "retry":
                conversation.retry()
            case _:
                conversation.edit(question)
        if what != "retry":
            assert conversation.question == question
        assert conversation.messages[-1].role == "user"
        conversation.hear(TextPart(text))
        for index in range(calls):
            conversation.hear(call(f"{number}.{index}"))
        if gives_results:
            conversation.answer([result(c.tool_call_id) for c in conversation.settle()])
    conversation.ask("Bye")

    waiting: list[str] = []
    for message in conversation.messages:
        results = [p.tool_call_id for p in message.content if isinstance(p, ToolResultPart)]
        assert results == waiting
        assert message.content
        waiting = [p.tool_call_id for p in message.content if isinstance(p, ToolCallPart)]
        assert not waiting or message.role == "assistant"
    assert not waiting

"""What we said ourselves is left out of what an agent is told; what it said never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.message import Message
from bridge.routing.own_words import (
    CHANGED,
    CHANGED_FILES,
    CHANGED_MEANWHILE,
    CHANGED_UNTIL_STOPPED,
    COMMANDS,
    MEMORY,
    without_own_words,
)
from bridge.wire import (
    ChatMessage,
    DataPart,
    OwnTextPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from bridge.work import done

CALL = ToolCallPart("c1", "read", {})
IMAGE = DataPart("image/png", b"x")
NOTE = "\n\n- **Read** a file of some length\n\n"


def recorded(*parts: Part) -> Message:
    return Message.of("assistant", parts)


def echoed(text: str, *others: Part) -> ChatMessage:
    return ChatMessage("assistant", (TextPart(text), *others))


def told(echo: ChatMessage, *answers: Message) -> tuple[Part, ...] | None:
    """Return what is left of the message, None if nothing is."""
    left = done(without_own_words([echo], answers))
    return left[0].content if left else None


# The record.


@pytest.mark.parametrize(
    ("parts", "own"),
    [
        ([TextPart("ab"), OwnTextPart("cd"), TextPart("e")], ((2, 4),)),
        ([OwnTextPart("ab"), OwnTextPart("cd"), CALL, OwnTextPart("e")], ((0, 5),)),
        ([OwnTextPart("a"), TextPart("b"), OwnTextPart("c")], ((0, 1), (2, 3))),
        ([TextPart("ab")], ()),
    ],
)
def test_an_answer_knows_which_words_are_ours(
    parts: list[Part], own: tuple[tuple[int, int], ...]
) -> None:
    assert recorded(*parts).own == own


def test_whose_words_they_are_makes_no_difference_to_what_is_the_same() -> None:
    assert recorded(TextPart("a"), OwnTextPart("b")) == recorded(TextPart("ab"))


# What is left.


def test_words_of_ours_are_cut_out_and_the_rest_stays_apart() -> None:
    answer = recorded(TextPart("Let me see."), OwnTextPart(NOTE), TextPart("It says 42."))
    assert told(echoed(answer.text), answer) == (TextPart("Let me see.\n\nIt says 42."),)


def test_calls_and_images_of_the_answer_stay() -> None:
    answer = recorded(OwnTextPart(NOTE), CALL)
    assert told(echoed(NOTE, CALL, IMAGE), answer) == (CALL, IMAGE)


def test_an_answer_that_was_nothing_but_ours_is_left_out() -> None:
    answer = recorded(OwnTextPart("*The agent refused.*"))
    assert told(echoed(answer.text), answer) is None


@pytest.mark.parametrize("cut", range(len(f"Yes.{NOTE}No.") + 1))
def test_an_answer_that_was_cut_loses_what_is_left_of_our_words(cut: int) -> None:
    answer = recorded(TextPart("Yes."), OwnTextPart(NOTE), TextPart("No."))
    left = told(echoed(answer.text[:cut]), answer)
    words = "".join(part.value for part in left or () if isinstance(part, TextPart))
    assert words in ("", "Y", "Ye", "Yes", "Yes.", "Yes.\n\nN", "Yes.\n\nNo", "Yes.\n\nNo.")
    assert "Read" not in words


def test_an_answer_whose_links_were_rewritten_loses_our_longer_words() -> None:
    answer = recorded(
        TextPart("See [a](file:///a)."), OwnTextPart(NOTE), TextPart("So."), OwnTextPart("\n\nhm")
    )
    echo = f"See [a](https://x/a).{NOTE}So.\n\nhm"
    assert told(echoed(echo), answer) == (TextPart("See [a](https://x/a).\n\nSo.\n\nhm"),)


def test_words_of_ours_that_the_host_has_changed_stay() -> None:
    answer = recorded(TextPart("[a](1)"), OwnTextPart("\n\n- **Read** [the long list](2)"))
    echo = "[a](9)\n\n- **Read** [the long list](8)"
    assert told(echoed(echo), answer) == (TextPart(echo),)


def test_an_answer_that_nobody_here_gave_stays_as_it_is() -> None:
    answer = recorded(TextPart("Yes."), OwnTextPart(NOTE))
    for echo in (echoed("No."), ChatMessage("assistant", (CALL,))):
        assert done(without_own_words([echo], [answer])) == (echo,)
    assert done(without_own_words([echoed(answer.text)], [])) == (echoed(answer.text),)


def test_nobody_else_says_our_words() -> None:
    answer = recorded(OwnTextPart(NOTE))
    results = ToolResultPart("c1", NOTE)
    messages = [ChatMessage("user", (TextPart(NOTE), results)), ChatMessage("system", ())]
    assert done(without_own_words(messages, [answer])) == tuple(messages)


def test_answers_that_are_the_same_are_told_apart_by_their_order() -> None:
    """The agent may say what we said before."""
    ours, agents = recorded(OwnTextPart("ok")), recorded(TextPart("ok"))
    for answers, left in (((ours, agents), 1), ((agents, ours), 1), ((agents, agents), 2)):
        assert len(done(without_own_words([echoed("ok"), echoed("ok")], answers))) == left


def test_an_answer_is_found_where_others_are_missing() -> None:
    """Pruned, or of before a restart."""
    first = recorded(TextPart("1"), OwnTextPart(NOTE))
    second = recorded(TextPart("2"), OwnTextPart(NOTE))
    messages = [echoed("elsewhere"), echoed(second.text)]
    assert done(without_own_words(messages, [first, second])) == (echoed("elsewhere"), echoed("2"))


agents = st.text("ab \n", max_size=6).map(TextPart)
ours = st.text("AB \n", max_size=6).map(OwnTextPart)


@given(st.lists(agents | ours, max_size=8), st.data())
def test_no_word_of_ours_is_left_and_none_of_the_agents_is_lost(
    parts: list[Part], data: st.DataObject
) -> None:
    """Whether the answer comes back whole or cut."""
    answer = recorded(*parts)
    text = answer.text[: data.draw(st.integers(0, len(answer.text)))]
    left = told(echoed(text), answer)
    words = "".join(part.value for part in left or () if isinstance(part, TextPart))
    assert [char for char in words if not char.isspace()] == [
        char for char in text if char in "ab"
    ] or not text.strip()


def test_each_message_and_each_answer_is_a_step() -> None:
    answers = [Message.of("assistant", (TextPart(f"answer {n}"),)) for n in range(3)]
    messages = [echoed(f"answer {n}") for n in range(5)]
    assert sum(1 for _ in without_own_words(messages, answers)) == 8


def test_after_a_restart_a_line_about_the_mode_is_not_told_again() -> None:
    """Nobody knows then which words of an answer were ours."""
    mode, memory = f"{CHANGED}Mode: `plan`", f"{MEMORY} ✔"
    commands = f"{COMMANDS}`/init`. A message can begin with one."
    text = f"{mode}\n\nI look.\n\n▶️ `ls` ✔\n\n{memory}\n\nMode: `x`, I say 🔀 Mode: `y`."
    files = f"{CHANGED_FILES}`a.py`, `b.py`"
    text = f"{CHANGED_UNTIL_STOPPED}`c.py`\n\n{text}"
    text += f"\n\n{commands}\n\n{files}\n\n{CHANGED_MEANWHILE}`b.py`"
    for answers in ([], [recorded(TextPart(text))]):
        assert told(echoed(text), *answers) == (
            TextPart("I look.\n\n▶️ `ls` ✔\n\nMode: `x`, I say 🔀 Mode: `y`."),
        )
        assert told(echoed(mode), *answers) is None

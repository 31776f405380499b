"""Text that was cut inside a character comes out whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.joiner import TextJoiner, mend


def units(text: str) -> list[str]:
    """Return the text as JavaScript has it: halves of characters, one by one."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(raw), 2)]


def chunked(text: str, sizes: list[int]) -> list[str]:
    whole, chunks = units(text), list[str]()
    for size in sizes:
        chunks.append("".join(whole[:size]))
        whole = whole[size:]
    return [*chunks, "".join(whole)]


@given(st.text(), st.lists(st.integers(0, 4), max_size=12))
def test_however_a_text_was_cut_it_comes_out_whole(text: str, sizes: list[int]) -> None:
    joiner = TextJoiner()
    assert "".join(joiner.push(chunk) for chunk in chunked(text, sizes)) == text
    assert joiner.flush() == ""


any_text = st.text(st.characters(exclude_categories=[]))


@given(st.lists(any_text, max_size=5))
def test_what_comes_out_can_always_be_encoded(chunks: list[str]) -> None:
    joiner = TextJoiner()
    said = "".join(joiner.push(chunk) for chunk in chunks) + joiner.flush()
    said.encode()
    assert said == mend("".join(chunks))


def test_a_text_that_ends_in_a_half_waits_with_it() -> None:
    joiner = TextJoiner()
    assert joiner.push("hi \ud83d") == "hi "
    assert joiner.push("\ude00!") == "\U0001f600!"


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        (["\ud83d", "x"], "\ufffdx"),
        (["\ud83d", "ä"], "\ufffdä"),
        (["\ud83d", "\ud83d", "\ude00"], "\ufffd\U0001f600"),
        (["\ude00"], "\ufffd"),
        (["a\ude00b\ud83dc"], "a\ufffdb\ufffdc"),
        (["\ud83d", ""], "\ufffd"),
        (["\ufeffbom"], "\ufeffbom"),
    ],
)
def test_a_half_that_stays_alone_is_replaced(chunks: list[str], said: str) -> None:
    joiner = TextJoiner()
    assert "".join(joiner.push(chunk) for chunk in chunks) + joiner.flush() == said


def test_nothing_is_left_for_the_next_message() -> None:
    joiner = TextJoiner()
    joiner.push("\ud83d")
    assert joiner.flush() == "\ufffd"
    assert joiner.push("\ude00") == "\ufffd"

"""Chunks of messages, made whole (point 23)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.rpc.surrogates import ChunkJoiner, TextJoiner, mend
from agents.acp.schema.content import ImageContent, TextContent
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Plan,
    SessionUpdate,
    UsageUpdate,
)

FIRST, SECOND = "\ud83d", "\ude00"


def say(text: str, message: str | None = None) -> AgentMessageChunk:
    return AgentMessageChunk(TextContent(text), message)


def think(text: str) -> AgentThoughtChunk:
    return AgentThoughtChunk(TextContent(text))


def joined(*updates: SessionUpdate) -> list[SessionUpdate]:
    joiner = ChunkJoiner()
    passed = [out for update in updates for out in joiner.pass_on(update)]
    return [*passed, *joiner.flush()]


def text_of(updates: Sequence[SessionUpdate]) -> str:
    return "".join(
        update.content.text
        for update in updates
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContent)
    )


def test_ordinary_chunks_pass_as_they_are() -> None:
    chunk = say("é")
    (out,) = joined(chunk)
    assert out is chunk


def test_halves_are_joined_across_chunks_of_a_message() -> None:
    assert text_of(joined(say(f"a{FIRST}"), say(f"{SECOND}b"))) == "a😀b"
    assert text_of(joined(say(FIRST), say(SECOND))) == "😀"


def test_what_says_nothing_yet_is_no_chunk() -> None:
    assert joined(say(FIRST), say(SECOND)) == [say("😀")]


def test_a_half_that_stays_alone_is_replaced_where_its_message_ends() -> None:
    assert joined(say(f"a{FIRST}")) == [say("a"), say("\ufffd")]
    assert joined(say(FIRST, "1"), say("b", "2")) == [say("\ufffd", "1"), say("b", "2")]
    assert joined(say(FIRST), think("b")) == [say("\ufffd"), think("b")]
    assert joined(think(FIRST), Plan()) == [think("\ufffd"), Plan()]
    assert joined(say(SECOND)) == [say("\ufffd")]


def test_an_image_ends_a_text() -> None:
    image = AgentMessageChunk(ImageContent(b"", "image/png"))
    assert joined(say(FIRST), image, say("b")) == [say("\ufffd"), image, say("b")]


def test_a_count_of_tokens_ends_nothing() -> None:
    usage = UsageUpdate(1, 2)
    assert joined(say(FIRST), usage, say(SECOND)) == [usage, say("😀")]


@given(st.text(), st.lists(st.integers(min_value=0, max_value=40)))
def test_a_text_cut_anywhere_comes_out_whole(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    edges = sorted({0, len(units), *(2 * cut for cut in cuts if 2 * cut < len(units))})
    pieces = [
        units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(edges)
    ]
    assert text_of(joined(*map(say, pieces))) == text


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

"""What was said in a session is shown, as much as there is room for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.continued.transcript import MOST_OF_MESSAGE, MOST_SHOWN, transcript
from agents.acp.schema.content import ResourceLink, TextContent, ToolCall
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionUpdate,
    UserMessageChunk,
)
from bridge.work import done

FRAME = 200
"""Characters of our own words round what was said, and round a message."""


def shown(*updates: SessionUpdate, is_cut: bool = False) -> str:
    return done(transcript(updates, "/x", is_cut=is_cut))


def user(text: str, message_id: str | None = None) -> UserMessageChunk:
    return UserMessageChunk(TextContent(text), message_id)


def agent(text: str) -> AgentMessageChunk:
    return AgentMessageChunk(TextContent(text))


def test_the_users_words_are_quoted_and_the_agents_stand_as_they_are() -> None:
    text = shown(
        user("Fix "), user("it.\n- now"), agent("I "), agent("will."), user("Thanks"), agent("!")
    )
    assert text == (
        "### Earlier in this session\n\n"
        "> **You**\n>\n> Fix it.\n> - now\n\nI will.\n\n"
        "> **You**\n>\n> Thanks\n\n!\n\n---"
    )


def test_calls_are_lines_and_thoughts_are_left_out() -> None:
    call = ToolCall("1", "Read it", status="completed")
    text = shown(user("x"), AgentThoughtChunk(TextContent("hmm")), call, agent("Done."))
    assert "Read it" in text
    assert "hmm" not in text
    assert text.index("Read it") < text.index("Done.")


def test_two_messages_of_the_users_are_two_paragraphs() -> None:
    assert "> one\n>\n> two" in shown(user("one", "1"), user("two", "2"), agent("ok"))


def test_only_the_typed_words_of_a_hosts_message_are_shown() -> None:
    host = "<context>\nToday\n</context>\n<userRequest>\nFix it\n</userRequest>"
    text = shown(user(host), agent("ok"))
    assert "> Fix it" in text
    assert "Today" not in text


def test_other_content_of_the_users_is_described() -> None:
    text = shown(UserMessageChunk(ResourceLink("a.py", "file:///x/a.py")), agent("ok"))
    assert "a.py" in text


def test_where_nothing_was_said_there_is_nothing() -> None:
    assert shown() == ""
    assert shown(user(" "), agent("\n")) == ""


@pytest.mark.limit("agents.acp.continued.transcript.MOST_SHOWN")
def test_the_oldest_are_left_out_and_that_is_said() -> None:
    rounds = [one for n in range(10) for one in (user(f"ask {n}."), agent("x" * 9_000))]
    text = shown(*rounds)
    assert "Older messages are left out here." in text
    assert "ask 9." in text
    assert "ask 0." not in text
    assert "Older messages are left out here." in shown(user("x"), agent("y"), is_cut=True)
    assert "left out" not in shown(user("x"), agent("y"))


@pytest.mark.limit("agents.acp.continued.transcript.MOST_OF_MESSAGE")
def test_a_long_answer_keeps_its_end_and_a_block_of_code_its_fences() -> None:
    lines = "line\n" * 5_000
    text = shown(user("x"), agent(f"Look:\n\n```python\n{lines}the end\n```\n\nDone."))
    assert "*(The beginning is left out here.)*\n\n```\n" in text
    assert text.endswith("the end\n```\n\nDone.\n\n---")


def test_a_block_of_code_that_is_left_open_ends_with_its_message() -> None:
    text = shown(user("x"), agent("~~~~\nno end\n~~~"), user("y"), agent("z"))
    assert "no end\n~~~\n~~~~\n\n> **You**" in text


said = st.text(st.sampled_from("ab`~> \n*#\u202e\x00"), max_size=30)
pieces: st.SearchStrategy[Any] = st.one_of(
    st.builds(user, said),
    st.builds(user, st.just("w" * (MOST_OF_MESSAGE + 7))),
    st.builds(agent, said.filter(bool)),
    st.builds(agent, st.just("v " * MOST_OF_MESSAGE)),
    st.builds(ToolCall, st.sampled_from("123"), st.just("Read it")),
)


@given(st.lists(pieces, max_size=20), st.booleans())
def test_what_is_shown_is_bounded_and_ends_with_the_newest(
    updates: list[SessionUpdate], is_cut: bool
) -> None:
    text = shown(*updates, is_cut=is_cut)
    quoted = text.count("\n> ") * 2
    assert len(text) <= MOST_SHOWN + FRAME + quoted
    assert not text or text.endswith("\n\n---")
    newest = next((one for one in reversed(updates) if isinstance(one, AgentMessageChunk)), None)
    if newest is not None and isinstance(newest.content, TextContent) and text:
        last = newest.content.text.strip().split("\n")[-1].strip()
        assert last[-20:] in text

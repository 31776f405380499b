"""Rounds of the progress tool are taken out of what an agent is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.message import Message
from bridge.history.progress_rounds import (
    CALL_PREFIX,
    has_begun,
    is_progress_call,
    without_progress,
)
from bridge.wire import (
    PROGRESS_TOOL,
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

CALL = ToolCallPart("call-1", "read_file", {})
RESULT = ToolResultPart("call-1", "x")


def call(number: int) -> ToolCallPart:
    return ToolCallPart(f"{CALL_PREFIX}{number}", PROGRESS_TOOL, {})


def result(number: int) -> ToolResultPart:
    return ToolResultPart(f"{CALL_PREFIX}{number}", [])


def user(*parts: Part) -> ChatMessage:
    return ChatMessage("user", parts)


def agent(*parts: Part) -> ChatMessage:
    return ChatMessage("assistant", parts)


A, B, Q, N = TextPart("a"), TextPart("b"), TextPart("q"), TextPart("n")
IMAGE = DataPart("image/png", b"x")


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ([user(Q), agent(A), user(N)], [user(Q), agent(A), user(N)]),
        ([user(Q), agent(A, call(1)), user(result(1)), agent(B)], [user(Q), agent(TextPart("ab"))]),
        ([user(Q), agent(call(1)), user(result(1)), agent(B)], [user(Q), agent(B)]),
        ([agent(A, call(1)), user(result(1)), agent(CALL)], [agent(A, CALL)]),
        ([agent(A, call(1)), user(result(1), N), agent(B)], [agent(A), user(N), agent(B)]),
        ([agent(A, call(1)), user(N), agent(B)], [agent(A), user(N), agent(B)]),
        (
            [agent(A, CALL, call(1)), user(RESULT), user(result(1)), agent(B)],
            [agent(A, CALL), user(RESULT), agent(B)],
        ),
        (
            [agent(A, call(1)), user(result(1)), agent(call(2)), user(result(2)), agent(IMAGE)],
            [agent(A, IMAGE)],
        ),
        ([user(result(1))], []),
        ([user(), agent(B)], [user(), agent(B)]),
    ],
    ids=[
        "no round",
        "text on both sides",
        "nothing said before",
        "a call goes on",
        "words with the result",
        "no result",
        "another call",
        "a round that said nothing",
        "a result alone",
        "an empty message",
    ],
)
def test_rounds_are_taken_out(told: list[ChatMessage], kept: list[ChatMessage]) -> None:
    assert without_progress(told) == tuple(kept)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_an_answer_is_whole_again_wherever_it_was_cut(pieces: list[str]) -> None:
    told = [user(Q)]
    for number, piece in enumerate(pieces[:-1]):
        told += [agent(TextPart(piece), call(number)), user(result(number))]
    told.append(agent(TextPart(pieces[-1])))
    assert without_progress(told) == (user(Q), agent(TextPart("".join(pieces))))


@pytest.mark.parametrize(
    ("told", "begun"),
    [
        ([user(Q)], False),
        ([user(Q), agent(A), user(N)], False),
        ([user(Q), agent(A, call(1)), user(result(1))], True),
        ([user(Q), agent(call(1)), user(result(1))], False),
        ([user(Q), agent(A, call(1)), user(result(1)), agent(call(2)), user(result(2))], True),
        ([user(Q), agent(A, CALL), user(RESULT), agent(call(2)), user(result(2))], False),
    ],
)
def test_an_answer_has_begun_if_a_round_showed_some_of_it(
    told: list[ChatMessage], begun: bool
) -> None:
    path = [Message.of(one.role, one.content) for one in told]
    assert has_begun(path) is begun


def test_a_call_is_known_by_its_id() -> None:
    assert is_progress_call(call(1).tool_call_id)
    assert not is_progress_call(CALL.tool_call_id)

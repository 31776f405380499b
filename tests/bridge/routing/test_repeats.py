"""What a repeat of a request is known by, and what it gets."""

from __future__ import annotations

import pytest

from bridge.history.message import Message
from bridge.routing.outcome import Reason, RoutedRequest
from bridge.routing.repeats import (
    FAILED_SECONDS,
    FINISHED_SECONDS,
    FailedRequests,
    SentParts,
    has_no_twin,
    repeated_as,
)
from bridge.routing.request import Hints, RequestClass
from bridge.wire import DataPart, OwnTextPart, Part, TextPart, ThinkingPart, ToolCallPart
from tests.bridge.desk import AGENT, BROKE, OTHER_AGENT, Desk
from tests.bridge.routing.chats import A1, CALL, CALLED, Q1, Q2, RESULT

CHAT = Hints(session="s")


def routed(*path: Message, hints: Hints = CHAT, agent: bytes = AGENT) -> RoutedRequest:
    return RoutedRequest(agent, path, hints=hints)


def test_a_repeat_is_the_same_request_of_the_same_chat_and_agent() -> None:
    name = repeated_as(routed(Q1))
    assert name == repeated_as(routed(Q1))
    others = [
        routed(Q2),
        routed(Q1, A1, Q2),
        routed(Q1, hints=Hints(session="t")),
        routed(Q1, agent=OTHER_AGENT),
    ]
    assert name not in map(repeated_as, others)
    assert repeated_as(routed(Q1, hints=Hints(conversation="c"))) is None


@pytest.mark.parametrize("request_class", RequestClass)
def test_only_the_task_of_a_sub_agent_may_have_a_twin(request_class: RequestClass) -> None:
    begun = RoutedRequest(AGENT, (Q1,), request_class)
    assert has_no_twin(begun) is (request_class is not RequestClass.SUB_AGENT)
    assert has_no_twin(RoutedRequest(AGENT, (Q1, CALLED, RESULT), request_class))


def test_sent_parts_come_back_in_order_with_texts_joined_and_are_counted() -> None:
    sent = SentParts()
    assert (sent.joined(), sent.size) == ([], 0)
    thought, image = ThinkingPart("Hm."), DataPart("image/png", b"1234")
    sent.add([TextPart("a"), OwnTextPart("b")])
    sent.add([thought, thought, TextPart("c"), CALL])
    sent.add([image, TextPart("d"), TextPart("e")])
    expected: list[Part] = [
        TextPart("ab"),
        thought,
        thought,
        TextPart("c"),
        CALL,
        image,
        TextPart("de"),
    ]
    assert sent.joined() == expected
    long = ToolCallPart("c2", "write", {"text": "x" * 1000})
    before = sent.size
    sent.add([TextPart("y" * 50), DataPart("image/png", b"z" * 20), long])
    assert 1070 < sent.size - before < 1300


def test_an_answer_is_kept_only_as_long_as_a_repeat_may_come() -> None:
    desk = Desk(apart=0.0)
    key = desk.opened(Q1, hints=CHAT)
    desk.emit(key, TextPart("a1"))
    desk.finish(key)
    desk.now += FINISHED_SECONDS - 1
    assert desk.joined(Q1, hints=CHAT) == (key, Reason.REPEAT)
    assert desk.chats.kept_bytes == 2
    desk.now += 1
    desk.opened(Q2, hints=Hints(session="t"))
    assert desk.chats.kept_bytes == 0
    other = desk.opened(Q2)
    desk.emit(other, TextPart("a2"))
    assert desk.chats.kept_bytes == 0, "this host makes no repeats"


def test_a_cancelled_answer_is_no_answer_to_a_repeat() -> None:
    desk = Desk(apart=0.0)
    key = desk.opened(Q1, hints=CHAT)
    desk.cancel(key, "a")
    assert desk.joined(Q1, hints=CHAT) == (key, Reason.RETRY)


def test_a_failure_is_known_for_a_while() -> None:
    failed = FailedRequests()
    failed.note("one", BROKE, 100.0)
    assert failed.known("one", 99.9 + FAILED_SECONDS) == BROKE
    assert failed.known("other", 100.0) is None
    assert failed.known("one", 100.0 + FAILED_SECONDS) is None

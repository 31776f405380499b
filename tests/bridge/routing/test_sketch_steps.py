"""The steps of a sketch: as they are written, and bytes that look like them."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.routing.align import UNFINISHED, items_of
from bridge.routing.sketch_steps import StepKind, digest, kind_of, loose_digest, packed, unpacked
from bridge.wire import DataPart, TextPart, ToolCallPart, ToolResultPart
from tests.strategies import any_messages, assistant, exchanges, user

LAST = Exchange((user("q"),), assistant("a"), Ending.COMPLETE)


def sealed(*steps: bytes, version: bytes = b"\x01") -> bytes:
    body = version + b"".join(steps)
    return body + digest(body)


def step(bits: int) -> bytes:
    return bytes([bits]) + bytes(16)


@given(st.lists(exchanges, max_size=4))
def test_what_is_written_is_read(record: list[Exchange]) -> None:
    items = items_of([*record, LAST])
    steps = unpacked(packed(items))
    assert steps is not None
    assert [one.whole for one in steps] == [item.message.digest[:8] for item in items]
    assert [one.is_unfinished for one in steps] == [item.ending in UNFINISHED for item in items]
    assert [one.kind is StepKind.ANSWER for one in steps] == [item.is_answer for item in items]
    begins = [index for index, one in enumerate(steps) if one.begins]
    exchanges_ = [item.exchange for item in items]
    assert begins == [index for index, e in enumerate(exchanges_) if e not in exchanges_[:index]]


@given(any_messages)
def test_a_message_is_the_same_as_itself(message: Message) -> None:
    steps = unpacked(packed(items_of([Exchange((message,), assistant("a"), Ending.COMPLETE)])))
    assert steps is not None
    assert steps[0].is_same(message)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (user("<environment_info>x"), StepKind.FACTS),
        (user("a"), StepKind.QUESTION),
        (Message.of("user", [TextPart("a"), DataPart("image/png", b"")]), StepKind.PICTURED),
        (Message.of("user", [DataPart("image/png", b"")]), StepKind.OTHER),
        (Message.of("user", [ToolResultPart("c")]), StepKind.RESULTS),
        (Message.of("user", [ToolResultPart("c"), TextPart("a")]), StepKind.OTHER),
        (assistant("a"), StepKind.TOLD),
    ],
)
def test_each_message_is_of_one_kind(message: Message, kind: StepKind) -> None:
    assert kind_of(message) is kind


@pytest.mark.parametrize(
    "steps",
    [
        b"",
        b"\x01",
        sealed(),
        sealed(step(StepKind.ANSWER), version=b"\x02"),
        b"\x01" + step(StepKind.ANSWER) + bytes(8),
        sealed(step(StepKind.ANSWER)[:-1]),
        sealed(step(0), step(StepKind.ANSWER)),
        sealed(step(8), step(StepKind.ANSWER)),
        sealed(step(StepKind.QUESTION)),
        sealed(step(StepKind.ANSWER | 0x40)),
    ],
)
def test_bytes_that_nobody_writes_are_no_steps(steps: bytes) -> None:
    assert unpacked(steps) is None


def test_the_least_that_is_written_is_one_answer() -> None:
    steps = unpacked(sealed(step(StepKind.ANSWER | 0x80)))
    assert steps is not None
    assert [one.kind for one in steps] == [StepKind.ANSWER]


def test_what_hosts_change_is_not_in_the_loose_form() -> None:
    def call(arguments: int) -> Message:
        return Message.of("assistant", [ToolCallPart("c", "t", {"a": arguments})])

    assert loose_digest(assistant("see [a](b) ")) == loose_digest(assistant("see a"))
    assert loose_digest(assistant("see a")) != loose_digest(assistant("see b"))
    assert loose_digest(call(1)) != loose_digest(call(2))
    wrapped = user("<context>x</context><userRequest>a</userRequest>")
    assert loose_digest(wrapped) == loose_digest(user("a"))
    assert loose_digest(user("a")) != loose_digest(assistant("a"))
    named = Message.of("user", [TextPart("a")], "alice")
    assert loose_digest(named) != loose_digest(user("a"))


def test_a_message_that_is_gone_is_not_remembered() -> None:
    from bridge.routing import sketch_steps as steps

    before = len(steps._loose_digests)  # pyright: ignore[reportPrivateUsage]  # that it stays small
    for number in range(100):
        loose_digest(user(f"a question that nobody keeps {number}"))
    gc.collect()
    assert len(steps._loose_digests) <= before + 1  # pyright: ignore[reportPrivateUsage]  # that it stays small

"""What a count is compared with: what came to the conversation since the one before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from bridge.gauge import MOST_MEASURED_BYTES, Gauge, Measured
from bridge.transcript import Transcript, TranscriptReader
from bridge.wire import ChatMessage, TextPart, ToolSpec

TOOLS = (ToolSpec("read"),)
CHAT = [("system", "be brief"), ("user", "one"), ("assistant", "1"), ("user", "two")]


def transcript(*said: tuple[str, str], thought: str = "") -> Transcript:
    def raw(role: str, text: str) -> Raw:
        content: list[Any] = [{"type": "text", "value": text}]
        if thought and role == "assistant":
            content.insert(0, {"type": "thinking", "value": thought})
        return Raw(msgspec.json.encode({"role": role, "content": content}))

    return TranscriptReader().read([raw(*one) for one in said])


def messages(*said: tuple[Any, str]) -> tuple[ChatMessage, ...]:
    return tuple(ChatMessage(role, (TextPart(text),)) for role, text in said)


def test_the_first_count_is_of_everything() -> None:
    measured = Gauge().take(transcript(*CHAT), TOOLS, 100)
    assert measured == Measured(messages(*CHAT), 100, TOOLS)


def test_a_later_count_is_of_what_came_since() -> None:
    gauge = Gauge()
    gauge.take(transcript(*CHAT[:2]), TOOLS, 1000)
    assert gauge.take(transcript(*CHAT), TOOLS, 1010) == Measured(messages(*CHAT[2:]), 10, None)


def test_thoughts_are_left_out() -> None:
    measured = Gauge().take(transcript(*CHAT, thought="hm"), (), 100)
    assert measured == Measured(messages(*CHAT), 100, ())


@pytest.mark.parametrize(
    ("system", "text", "tools"),
    [("be long", "one", TOOLS), ("be brief", "ONE", TOOLS), ("be brief", "one", ())],
    ids=["system prompt", "history", "tools"],
)
def test_nothing_is_measured_where_something_else_is_another(
    system: str, text: str, tools: tuple[ToolSpec, ...]
) -> None:
    """And the next count is compared with this one again."""
    gauge = Gauge()
    gauge.take(transcript(*CHAT[:2]), TOOLS, 1000)
    other = [("system", system), ("user", text), *CHAT[2:]]
    assert gauge.take(transcript(*other), tools, 1010) is None
    more = [*other, ("assistant", "2"), ("user", "three")]
    assert gauge.take(transcript(*more), tools, 1030) == Measured(messages(*more[4:]), 20, None)


def test_the_same_request_once_more_measures_nothing() -> None:
    gauge = Gauge()
    gauge.take(transcript(*CHAT), TOOLS, 1000)
    assert gauge.take(transcript(*CHAT), TOOLS, 1000) is None


def test_a_branch_from_before_the_last_count_measures_nothing() -> None:
    gauge = Gauge()
    gauge.take(transcript(*CHAT), TOOLS, 1000)
    assert gauge.take(transcript(*CHAT[:2]), TOOLS, 900) is None


@pytest.mark.limit("bridge.gauge.MOST_MEASURED_BYTES")
@pytest.mark.parametrize(("over", "is_measured"), [(0, True), (1, False)])
def test_more_than_can_be_compared_quickly_measures_nothing(over: int, is_measured: bool) -> None:
    gauge, empty = Gauge(), transcript(("user", "")).size
    first = transcript(("user", "x" * (MOST_MEASURED_BYTES - empty + over)))
    assert (gauge.take(first, (), 100_000) is not None) is is_measured
    second = (
        "user",
        "x" * (MOST_MEASURED_BYTES - empty - transcript(("assistant", "1")).size + over),
    )
    more = [("user", "x" * (MOST_MEASURED_BYTES - empty + over)), ("assistant", "1"), second]
    assert (gauge.take(transcript(*more), (), 200_000) is not None) is is_measured
    short = transcript(*more, ("assistant", "2"), ("user", "three"))
    assert gauge.take(short, (), 200_010) == Measured(
        messages(("assistant", "2"), ("user", "three")), 10, None
    ), "what is left out once is in both counts"


@pytest.mark.parametrize(("over", "is_measured"), [(0, True), (1, False)])
def test_tools_count_among_what_is_compared(over: int, is_measured: bool) -> None:
    said = transcript(("user", "one"))
    schema = Raw(b'"%s"' % (b"x" * 1000))
    rest = "x" * (MOST_MEASURED_BYTES - said.size - len("read") - len(schema) + over)
    tools = (ToolSpec("read", rest, schema),)
    assert (Gauge().take(said, tools, 100_000) is not None) is is_measured

"""What a count is compared with: what came to the conversation since the one before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from bridge.history.transcript import Transcript, TranscriptReader
from bridge.tokens.gauge import (
    MOST_MEASURED_BYTES,
    MOST_MODELS,
    MOST_WAITING,
    Calibration,
    Gauge,
    Measured,
)
from bridge.tokens.message import MESSAGE_OVERHEAD, estimate_message, estimate_text
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


@pytest.mark.limit("bridge.tokens.gauge.MOST_MEASURED_BYTES")
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


STORY = ChatMessage("user", (TextPart("Once upon a time there was a baker. " * 50),))
TEXT = "word " * 1000


def counted(times: float) -> Measured:
    return Measured((STORY,), round((MESSAGE_OVERHEAD + estimate_message(STORY)) * times), None)


def test_a_model_that_nobody_counted_is_estimated() -> None:
    assert Calibration().estimator("a", "gpt").estimate_text(TEXT) == estimate_text(TEXT)


@pytest.mark.parametrize("is_asked_first", [True, False])
def test_a_count_corrects_its_model_and_no_other(is_asked_first: bool) -> None:
    calibration = Calibration()
    if is_asked_first:
        calibration.estimator("a", "gpt")
    calibration.learn("a", counted(1.5))
    assert calibration.estimator("a", "gpt").ratio == pytest.approx(1.15, abs=0.001)
    assert calibration.estimator("b", "gpt").ratio == 1.0


def test_what_was_counted_before_anybody_asked_counts_once_and_only_the_latest() -> None:
    calibration = Calibration()
    calibration.learn("a", counted(1.9))
    calibration.learn("a", counted(1.5))
    first = calibration.estimator("a", "gpt").ratio
    assert first == calibration.estimator("a", "gpt").ratio == pytest.approx(1.15, abs=0.001)


# What is kept.


@pytest.mark.limit("bridge.tokens.gauge.MOST_WAITING")
def test_of_models_that_nobody_asks_for_only_the_newest_measurements_are_kept() -> None:
    calibration = Calibration()
    for number in range(MOST_WAITING + 1):
        calibration.learn(f"{number}", counted(1.5))
    ratios = [calibration.estimator(f"{n}", "gpt").ratio for n in range(MOST_WAITING + 1)]
    assert [ratio == 1.0 for ratio in ratios] == [True] + [False] * MOST_WAITING


@pytest.mark.limit("bridge.tokens.gauge.MOST_MODELS")
@pytest.mark.parametrize(("others", "is_kept"), [(MOST_MODELS - 1, True), (MOST_MODELS, False)])
def test_only_the_models_that_were_asked_for_last_are_kept(others: int, is_kept: bool) -> None:
    calibration = Calibration()
    calibration.estimator("a", "gpt")
    calibration.learn("a", counted(1.5))
    for number in range(others):
        calibration.estimator(f"{number}", "gpt")
    assert (calibration.estimator("a", "gpt").ratio != 1.0) is is_kept

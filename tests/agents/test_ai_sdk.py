"""The AI SDK's stream parts, of all its versions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from agents.ai_sdk import AiSdkAdapter, StreamPart, read_usage
from agents.events import Attach, Break, CallTool, Event, Say, Stop, StopReason, Think
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.outcome import TokenUsage

PNG = b"\x89PNG\r\n\x1a\nrest"
FINISH = {"type": "finish", "finishReason": "stop"}


def adapter(**options: Any) -> AiSdkAdapter:
    return AiSdkAdapter(outward=CallIds().outward, **options)


def said(*parts: StreamPart, **options: Any) -> list[Event]:
    """Return what is said but for the end, which is checked."""
    events = list(adapter(**options).adapt([*parts, FINISH]))
    assert events[-1] == Stop()
    return events[:-1]


@pytest.mark.parametrize("name", ["text", "delta", "textDelta"])
def test_a_delta_is_text(name: str) -> None:
    assert said({"type": "text-delta", "id": "1", name: "a"}) == [Say("a")]


def test_the_oldest_names_are_known_too() -> None:
    usage = {"promptTokens": 1, "completionTokens": 2}
    stream = adapter()
    assert stream.feed({"type": "reasoning", "textDelta": "a"}) == (Think("a"),)
    stream.feed({"type": "step-finish", "finishReason": "stop", "usage": usage})
    assert stream.usage == TokenUsage(1, 2, 3)


@pytest.mark.parametrize("delta", [{}, {"text": ""}, {"text": None}])
def test_an_empty_delta_is_nothing(delta: StreamPart) -> None:
    assert said({"type": "text-delta", **delta}, {"type": "reasoning-delta", **delta}) == []


def test_reasoning_is_told_with_a_blank_line_between_its_blocks() -> None:
    parts = [
        {"type": "reasoning-delta", "id": id_, "text": text}
        for id_, text in (("1", "a"), ("1", "b"), ("2", "c"))
    ]
    assert said(*parts) == [Think("a", "1"), Think("b", "1"), Think("\n\nc", "2")]
    assert said({"type": "reasoning-delta", "text": "a"}) == [Think("a")]
    assert said(*parts, has_reasoning=False) == []


@pytest.mark.parametrize(
    "arguments",
    [{"input": {"a": 1}}, {"input": '{"a":1}'}, {"args": {"a": 1}}, {"args": '{"a":1}'}],
)
def test_a_call_is_made_once(arguments: StreamPart) -> None:
    part = {"type": "tool-call", "toolCallId": "c", "toolName": "look", **arguments}
    assert said(part, part) == [CallTool("gw-c", "look", {"a": 1})]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    part = {"type": "tool-call", "toolCallId": "c", "toolName": "look"}
    assert said(part) == [CallTool("gw-c", "look", {})]


def test_calls_without_an_id_get_one_each() -> None:
    part: StreamPart = {"type": "tool-call", "toolName": "look", "input": {}}
    assert said(part, part) == [CallTool("gw-~1", "look", {}), CallTool("gw-~2", "look", {})]


def test_a_call_that_the_provider_runs_itself_is_not_made() -> None:
    part: StreamPart = {
        "type": "tool-call",
        "toolName": "search",
        "input": {},
        "providerExecuted": True,
    }
    assert said(part) == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": '{"a":'},
        {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": "[1]"},
        {"type": "tool-call", "toolCallId": "c", "input": {}},
        {"type": "file"},
        {"type": "file", "file": {"base64": "?"}},
        {"type": "file", "file": {"uint8Array": [300]}},
        {"type": "file", "file": {"uint8Array": {"0": "x"}}},
        {"type": "file", "url": "https://a.example/x.png"},
        {"type": "file", "data": 7},
        {"type": "file", "data": ""},
        {"type": "text-start", "id": "1"},
        {"type": "tool-input-delta", "id": "1", "delta": "x"},
        {"type": "source", "url": "https://a.example"},
        {"type": None},
        {},
    ],
    ids=str,
)
def test_other_parts_are_handed_over(part: StreamPart) -> None:
    unknown: list[StreamPart] = []
    assert said(part, on_unknown=unknown.append) == []
    assert unknown == [part]
    assert said(part) == []


@pytest.mark.parametrize(
    "file",
    [
        {"file": {"base64": base64.b64encode(PNG).decode(), "mediaType": "image/png"}},
        {"file": {"uint8Array": list(PNG), "mediaType": "image/png"}},
        {
            "file": {"uint8Array": {str(n): byte for n, byte in enumerate(PNG)}},
            "mediaType": "image/*",
        },
        {"file": {"uint8Array": PNG, "mimeType": "image/png"}},
        {"mediaType": "image/png", "data": base64.b64encode(PNG).decode()},
        {"mediaType": "image/png", "data": bytearray(PNG)},
        {"url": "data:image/png;base64," + base64.b64encode(PNG).decode()},
    ],
    ids=lambda file: json.dumps(file, default=str)[:40],
)
def test_a_file_is_data_however_its_bytes_are_given(file: StreamPart) -> None:
    assert said({"type": "file", **file}) == [Attach("image/png", PNG)]


def test_a_data_url_may_be_plain_and_need_no_type() -> None:
    plain = {"type": "file", "url": "data:text/plain,a%20b"}
    nothing = {"type": "file", "url": "data:,a"}
    assert said(plain, nothing) == [
        Attach("text/plain", b"a b"),
        Attach("application/octet-stream", b"a"),
    ]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"error": "boom"}, "boom"),
        ({"error": {"message": "boom", "code": "rate_limit"}}, "boom"),
        ({"errorText": "boom"}, "boom"),
        ({"error": None}, "didn't say why"),
        ({}, "didn't say why"),
    ],
)
def test_an_error_is_a_failure_and_the_end(error: StreamPart, words: str) -> None:
    stream = adapter(server="Local")
    (failed,) = stream.feed({"type": "error", **error})
    assert isinstance(failed, Break)
    assert failed.failure.message.startswith("Local failed: ")
    assert words in failed.failure.message
    assert stream.is_over
    assert stream.feed({"type": "text-delta", "text": "late"}) == ()
    assert stream.finish() == ()


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", StopReason.END_TURN),
        ("tool-calls", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content-filter", StopReason.REFUSAL),
        ("other", StopReason.END_TURN),
        (None, StopReason.END_TURN),
        ({"unified": "length", "raw": "max_tokens"}, StopReason.MAX_TOKENS),
    ],
)
def test_the_reason_to_finish_is_the_reason_to_stop(reason: Any, stop: StopReason) -> None:
    assert list(adapter().adapt([{"type": "finish", "finishReason": reason}])) == [Stop(stop)]
    assert list(adapter().adapt([{"type": "finish-step", "finishReason": reason}])) == [Stop(stop)]


def test_to_finish_with_an_error_is_a_failure() -> None:
    (failed,) = adapter().adapt([{"type": "finish", "finishReason": "error"}])
    assert isinstance(failed, Break)


def test_a_stream_that_just_ends_is_a_failure() -> None:
    said_before_it, failed = adapter().adapt([{"type": "text-delta", "text": "a"}])
    assert said_before_it == Say("a")
    assert isinstance(failed, Break)
    assert failed.failure.kind == "Unavailable"


def test_the_tokens_of_the_steps_are_added() -> None:
    stream = adapter()
    assert stream.usage is None
    usage = {"inputTokens": 5, "outputTokens": 3, "cachedInputTokens": 1}
    for _ in range(2):
        stream.feed({"type": "finish-step", "finishReason": "stop", "usage": usage})
    assert stream.usage == TokenUsage(10, 6, 16, 2)
    stream.feed({"type": "finish-step", "usage": {"inputTokens": 1, "reasoningTokens": 1}})
    stream.feed({"type": "finish-step", "usage": None})
    assert stream.usage == TokenUsage(11, 6, 17, 2, 1)
    record, stop = stream.feed({"type": "finish", "finishReason": "stop"})
    assert isinstance(record, Attach)
    assert json.loads(record.data)["total_tokens"] == 17
    assert stop == Stop()


def test_the_total_counts_more_than_the_steps() -> None:
    stream = adapter()
    stream.feed({"type": "finish-step", "usage": {"inputTokens": 5}})
    stream.feed({"type": "finish", "totalUsage": {"inputTokens": 9, "outputTokens": 1}})
    assert stream.usage == TokenUsage(9, 1, 10)


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"promptTokens": 1, "completionTokens": 2, "totalTokens": 4}, TokenUsage(1, 2, 4)),
        (
            {
                "inputTokens": 5,
                "outputTokens": 3,
                "inputTokenDetails": {"cacheReadTokens": 2},
                "outputTokenDetails": {"reasoningTokens": 1},
            },
            TokenUsage(5, 3, 8, 2, 1),
        ),
        (
            {
                "inputTokens": {"total": 5, "noCache": 3, "cacheRead": 2},
                "outputTokens": {"total": 3, "text": 2, "reasoning": 1},
            },
            TokenUsage(5, 3, 8, 2, 1),
        ),
        ({"inputTokens": None, "outputTokens": True, "totalTokens": -1}, None),
        ({}, None),
        (None, None),
    ],
)
def test_every_version_counts_tokens_in_its_own_way(told: Any, usage: TokenUsage | None) -> None:
    assert read_usage(told) == usage

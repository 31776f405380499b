from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.wire import DataPart, Part, TextPart, ThinkingPart, ToolCallPart, UnknownPart
from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.completions import CompletionWriter, about_messages, read_completion
from vscodelm.http_server.events import DONE, KEEPALIVE
from vscodelm.http_server.items import MOST_ITEMS

HELLO = {"role": "user", "content": "Hello"}
USAGE = b'{"prompt_tokens": 7, "completion_tokens": 3}'
FIELDS = {"id": "chatcmpl-1", "created": 1, "model": "eliza"}


def read(*messages: Any, **fields: Any) -> list[dict[str, Any]]:
    body = {"model": "eliza", "messages": messages or [HELLO], **fields}
    asked, *_ = read_completion(json.dumps(body).encode())
    assert isinstance(asked.input, list)
    return [json.loads(bytes(item)) for item in asked.input]


def chunks(stream: bytes) -> list[dict[str, Any]]:
    frames = stream.decode().removesuffix(DONE.decode()).split("\n\n")[:-1]
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def test_messages_become_items() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    items = read(
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "See"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Fine."},
    )
    assert items == [
        {"type": "message", "role": "system", "content": "Be kind."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "See"}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "message", "role": "assistant", "content": "Fine."},
    ]


def test_images_files_and_refusals_are_read() -> None:
    content = [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "file", "file": {"filename": "a", "file_data": "x"}},
        {"type": "refusal", "refusal": "no"},
    ]
    (item,) = read({"role": "user", "content": content})
    assert item["content"] == [
        {"type": "input_image", "image_url": {"url": "data:,"}},
        {"type": "input_file", "filename": "a", "file_data": "x"},
        {"type": "refusal", "refusal": "no"},
    ]


def test_fields_become_those_of_a_response() -> None:
    body = {
        "model": "eliza",
        "messages": [HELLO],
        "max_tokens": 5,
        "max_completion_tokens": 99,
        "reasoning_effort": "low",
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
    }
    asked, wants_usage, _ = read_completion(json.dumps(body).encode())
    assert (asked.max_output_tokens, asked.temperature, asked.store) == (99, 0.5, False)
    assert asked.reasoning == {"effort": "low"}
    assert wants_usage
    assert read_completion(json.dumps({**body, "stream_options": None}).encode())[1] is False


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": []}, "messages"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": [HELLO] * (MOST_ITEMS + 1)}, "messages"),
        ({"model": None}, "model"),
    ],
)
def test_a_refusal_names_the_field(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as raised:
        read_completion(json.dumps({"model": "e", "messages": [HELLO], **fields}).encode())
    assert (raised.value.status, raised.value.param) == (400, param)


@pytest.mark.parametrize(
    ("param", "named"),
    [
        ("input", "messages"),
        ("input[0].role", "messages[0].role"),
        ("input[2].arguments", "messages[1]"),
        ("input[3].content[4]", "messages[2].content[4]"),
        ("model", "model"),
        (None, None),
    ],
)
def test_an_error_names_the_message_and_not_the_item(param: str | None, named: str | None) -> None:
    call = {"id": "c1", "function": {"name": "read", "arguments": "{"}}
    said = {"role": "assistant", "content": "Hm.", "tool_calls": [call]}
    body = {"model": "eliza", "messages": [HELLO, said, HELLO]}
    *_, origins = read_completion(json.dumps(body).encode())
    error = about_messages(ApiError(429, "code", "text", param, 5), origins)
    assert (error.param, error.status, error.retry) == (named, 429, 5)


PARTS: list[Part] = [
    ThinkingPart("hm"),
    TextPart("Hello "),
    TextPart("you"),
    ToolCallPart("c1", "read", {"a": 1}),
    UnknownPart("vscodelm:tool_call", b"{}"),
    DataPart("usage", USAGE),
]


def test_a_completion_is_written_in_chunks() -> None:
    writer = CompletionWriter(FIELDS, wants_usage=True)
    stream = writer.begin() + writer.add(PARTS) + writer.end(2)
    *middle, last = chunks(stream)
    deltas = [chunk["choices"][0]["delta"] for chunk in middle]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert deltas[1] == {"reasoning_content": "hm"}
    assert [delta["content"] for delta in deltas[2:4]] == ["Hello ", "you"]
    assert deltas[4]["tool_calls"][0]["index"] == 0
    assert middle[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 10)
    assert stream.endswith(DONE)
    assert writer.keepalive == KEEPALIVE


def test_a_completion_is_written_as_a_whole() -> None:
    writer = CompletionWriter(FIELDS)
    writer.begin()
    writer.add(PARTS)
    writer.end(2)
    whole = json.loads(writer.result)
    (choice,) = whole["choices"]
    assert choice["message"]["content"] == "Hello you"
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    assert whole["usage"]["prompt_tokens"] == 7


def test_an_empty_completion_stops() -> None:
    writer = CompletionWriter(FIELDS, wants_usage=True)
    *_, stop, last = chunks(writer.begin() + writer.end(2))
    assert stop["choices"][0]["finish_reason"] == "stop"
    assert last["usage"] is None
    whole = json.loads(writer.result)
    assert (whole["usage"], whole["choices"][0]["message"]["content"]) == (None, None)


def test_a_failure_amid_a_stream_is_an_error() -> None:
    writer = CompletionWriter(FIELDS)
    stream = writer.end(2, ApiError(502, "died", "It died."))
    assert chunks(stream)[0]["error"]["code"] == "died"
    assert stream.endswith(DONE)

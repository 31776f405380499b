"""The estimate of messages and tools: additive, and of what a model reads."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens.message import (
    CALL_OVERHEAD,
    MESSAGE_OVERHEAD,
    RESULT_OVERHEAD,
    ROLE,
    estimate_image,
    estimate_message,
    estimate_text,
    estimate_tools,
)
from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    UnknownPart,
)
from tooling.token_vectors import png

IMAGE = {"type": "data", "mimeType": "image/png", "data": "AAAA"}


def cost(*parts: Part, family: str = "") -> int:
    return estimate_message(ChatMessage("user", parts), family) - ROLE


def test_an_empty_message_has_its_role() -> None:
    assert estimate_message(ChatMessage("user", ())) == ROLE


def test_a_name_is_told_to_the_model_too() -> None:
    assert estimate_message(ChatMessage("user", (), "alice")) > ROLE + estimate_text("alice")


@pytest.mark.parametrize(
    ("part", "text", "overhead"),
    [
        (TextPart("hello world"), "hello world", 0),
        (ThinkingPart("hello world"), "hello world", 0),
        (ThinkingPart(["hello ", "world"]), "hello world", 0),
        (ToolResultPart("c1", "hello world"), "hello world", RESULT_OVERHEAD),
        (ToolResultPart("c1", [{"value": "hello"}]), "hello", RESULT_OVERHEAD),
        (ToolResultPart("c1", [{"type": "text", "value": "hello"}]), "hello", RESULT_OVERHEAD),
        (ToolResultPart("c1", {"a": [1]}), '{"a":[1]}', RESULT_OVERHEAD),
        (ToolResultPart("c1", [{"type": "tsx", "value": []}]), '{"type":"tsx","value":[]}', 5),
        (ToolResultPart("c1"), "null", RESULT_OVERHEAD),
        (ToolResultPart("c1", []), "", RESULT_OVERHEAD),
        (DataPart("text/plain", b"hello \xff"), "hello \ufffd", 0),
        (DataPart("application/json", b'{"a":1}'), '{"a":1}', 0),
    ],
)
def test_a_part_has_the_tokens_of_what_a_model_reads(part: Part, text: str, overhead: int) -> None:
    assert cost(part) == overhead + estimate_text(text)


def test_a_call_with_its_result_has_twenty_tokens_beside_its_text() -> None:
    call = ChatMessage("assistant", (ToolCallPart("c1", "read", {"path": "a.py"}),))
    result = ChatMessage("user", (ToolResultPart("c1", "def f(): ..."),))
    texts = ("read", '{"path":"a.py"}', "def f(): ...")
    beside = 2 * MESSAGE_OVERHEAD + sum(map(estimate_message, (call, result)))
    assert beside - sum(map(estimate_text, texts)) == 20


def test_a_call_has_the_tokens_of_its_name_and_its_arguments() -> None:
    call = ToolCallPart("c1", "read", {"b": 1, "a": 2.0})
    expected = CALL_OVERHEAD + estimate_text("read") + estimate_text('{"a":2,"b":1}')
    assert cost(call) == expected


@pytest.mark.parametrize("family", ["", "claude"])
def test_an_image_is_priced_by_the_family_wherever_it_is(family: str) -> None:
    assert cost(DataPart("image/png", b"abc"), family=family) == estimate_image(b"abc", family)
    inside = ToolResultPart("c1", [IMAGE])
    assert cost(inside, family=family) == RESULT_OVERHEAD + estimate_image(bytes(3), family)


def test_the_size_of_an_image_is_read_though_the_end_of_its_base64_is_not() -> None:
    head = base64.b64encode(png((1920, 1080)))
    long = {**IMAGE, "data": (head + b"A" * 1_000_000).decode()}
    assert cost(ToolResultPart("c1", [long])) == RESULT_OVERHEAD + 1105


@pytest.mark.parametrize("written", ["R0lGODlh+wP/Aw==", "R0lGODlh+wP/Aw", "R0lGODlh-wP_Aw"])
def test_an_image_is_read_in_both_alphabets_of_base64(written: str) -> None:
    part = ToolResultPart("c1", [{**IMAGE, "mimeType": "image/gif", "data": written}])
    small = estimate_image(b"GIF89a\xfb\x03\xff\x03")
    assert small != estimate_image(b"")
    assert cost(part) == RESULT_OVERHEAD + small


def test_data_that_is_not_base64_is_no_image_to_speak_of() -> None:
    broken = ToolResultPart("c1", [{**IMAGE, "data": "A"}])
    assert cost(broken) == RESULT_OVERHEAD + estimate_image(b"")


@pytest.mark.parametrize("part", [DataPart("usage", b"{}"), UnknownPart("hologram", b"{}")])
def test_bookkeeping_has_no_tokens(part: Part) -> None:
    assert cost(part) == 0


@given(st.lists(st.builds(TextPart, st.text())), st.lists(st.builds(TextPart, st.text())))
def test_parts_add_up(some: list[Any], more: list[Any]) -> None:
    assert cost(*some, *more) == cost(*some) + cost(*more)


def schema(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def test_no_tools_have_no_tokens() -> None:
    assert estimate_tools([]) == 0


def test_tools_are_counted_as_the_host_counts_its_own() -> None:
    """16 for all, 8 for each, every key and every text, and a tenth more."""
    properties = {"path": {"type": "string"}}
    tool = ToolSpec("read", "Reads.", schema({"properties": properties, "minItems": 1}))
    keys = ["name", "description", "parameters", "properties", "path", "type", "minItems"]
    counted = sum(map(estimate_text, [*keys, "read", "Reads.", "string"]))
    assert estimate_tools([tool]) == (16 + 8 + counted) * 11 // 10
    assert estimate_tools([tool, tool]) == (16 + 2 * (8 + counted)) * 11 // 10


def test_what_is_empty_in_a_schema_is_left_out_and_a_list_has_places() -> None:
    bare = estimate_tools([ToolSpec("read")])
    empty = {"default": None, "x": 0, "y": "", "z": False}
    parameters = estimate_text("parameters")
    assert (
        estimate_tools([ToolSpec("read", "", schema(empty))])
        == (16 + 8 + 2 + parameters) * 11 // 10
    )
    assert bare == (16 + 8 + 2) * 11 // 10
    required = schema({"required": ["path", "", "line"]})
    counted = sum(map(estimate_text, ["name", "read", "parameters", "required", "path", "line"]))
    assert estimate_tools([ToolSpec("read", "", required)]) == (16 + 8 + counted + 2) * 11 // 10


@pytest.mark.parametrize(
    "odd",
    [
        b'{"items":' * 900 + b"1" + b"}" * 900,
        b'{"a":"\xed\xa0\x80"}',
        b'{"maximum":' + b"7" * 5000 + b"}",
    ],
    ids=["deep", "no UTF-8", "digits"],
)
def test_a_schema_that_can_not_be_taken_apart_is_counted_as_text(odd: bytes) -> None:
    assert estimate_tools([ToolSpec("read", "", msgspec.Raw(odd))]) > len(odd) / 20


def test_an_empty_schema_has_its_key() -> None:
    some = estimate_tools([ToolSpec("read", "", schema({"properties": {"path": {}, "lines": []}}))])
    none = estimate_tools([ToolSpec("read", "", schema({"properties": {}}))])
    assert some >= none + estimate_text("path") + estimate_text("lines")

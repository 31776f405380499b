"""JSON of peers, read as far as it can be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from agents.loading import input_schema_of, load, writable
from agents.mcp.tools import ToolCatalogue
from agents.nesting import is_deep
from agents.open_responses.request.body import tools_body
from bridge.wire import ToolSpec

DEEP = b"[" * 900 + b"]" * 900


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a":[1]}', {"a": [1]}),
        (b'"\xff\xed\xa0\x80"', "\ufffd\ufffd\ufffd\ufffd"),
        (b'"\\ud83d and \\ud83d\\ude00"', "\ufffd and \U0001f600"),
        (b"", None),
        (b"{", None),
        (b"7" * 5000, None),
        (b"[" * 5000 + b"]" * 5000, None),
    ],
    ids=["as it is", "no UTF-8", "half a character", "nothing", "a piece", "digits", "too deep"],
)
def test_what_can_be_read_is_read(raw: bytes, value: Any) -> None:
    assert load(raw) == value


def test_what_can_be_read_but_not_written_is_cut() -> None:
    value = load(DEEP)
    assert value
    assert not is_deep(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": ["\U0001f600", 1, None, 1.5]}, {"a": ["\U0001f600", 1, None, 1.5]}),
        ({"\ud83d": "\udc00x"}, {"\ufffd": "\ufffdx"}),
        ({"a": 10**5000}, None),
        ({"a": object()}, None),
    ],
)
def test_what_another_library_loaded_is_written_as_far_as_it_can_be(
    value: Any, written: Any
) -> None:
    assert writable(value) == written


def test_what_another_library_loaded_too_deep_is_cut() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert msgspec.json.encode(writable({"a": deep, "b": "\ud83d"}))


def test_the_schema_of_a_tool_is_an_object_or_nothing() -> None:
    assert input_schema_of(ToolSpec("a")) is None
    assert input_schema_of(ToolSpec("a", input_schema=Raw(b"[1]"))) is None
    assert input_schema_of(ToolSpec("a", input_schema=Raw(b'{"a":1}'))) == {"a": 1}


@pytest.mark.parametrize(
    "schema",
    [
        b'{"type":"object","properties":{"a":' + b'{"items":' * 900 + b"1" + b"}" * 901 + b"}",
        b'{"description":"half a character: \\ud83d"}',
        b'{"description":"no UTF-8: \xed\xa0\x80"}',
        b'{"maximum":' + b"7" * 4300 + b"}",
        b'{"maximum":' + b"7" * 5000 + b"}",
        b"[" * 5000 + b"]" * 5000,
        b"null",
    ],
    ids=["deep", "half", "no UTF-8", "digits", "more digits", "deeper", "null"],
)
def test_a_tool_with_an_odd_schema_is_offered_all_the_same(schema: bytes) -> None:
    tools = [ToolSpec("odd", "An odd tool.", Raw(schema)), ToolSpec("plain")]
    offered = ToolCatalogue.of(tools, "editor").tools.values()
    assert [tool.name for tool in offered] == ["odd", "plain"]
    assert msgspec.json.encode([tool.schema for tool in offered])
    assert msgspec.json.encode(tools_body(tools, required=False))

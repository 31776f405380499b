from __future__ import annotations

from typing import Any

import pytest

from agents.mcp.results import EMPTY, content
from tests.fakes.tool_results import PNG, data, leaf, node, part


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    "result",
    [None, "", [], [part("")], [None], [data("cache_control", b"ephemeral")], {"content": []}],
)
def test_what_is_empty_says_so(result: Any) -> None:
    assert content(result) == [text(EMPTY)]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("plain", "plain"),
        ([part("a"), part("b")], "ab"),
        ({"value": "v"}, "v"),
        ({"content": [part("in")]}, "in"),
        ({"content": [part("in")], "isError": False}, "in"),
        (
            {"content": [part("in")], "more": 1},
            '{"content":[{"type":"text","value":"in"}],"more":1}',
        ),
        ({"type": "tool_result", "toolCallId": "1", "result": [part("inner")]}, "inner"),
        ([{"type": "thinking", "value": "hm"}, part("a")], "a"),
        (17, "17"),
        (False, "false"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ({"value": {"a": 1}}, '{"a":1}'),
        ({"value": {"a": 1}, "b": 2}, '{"value":{"a":1},"b":2}'),
        ([data("application/json", b'{"x":1}')], '{"x":1}'),
        ([data("application/problem+json; charset=utf-8", b"{}")], "{}"),
        ([data("text/plain", b"hi\xff")], "hi�"),
        ([{"mimeType": "image/png", "data": "not base64!"}], "not base64!"),
        ({"isError": True}, '{"isError":true}'),
    ],
)
def test_words_are_said(result: Any, said: str) -> None:
    assert content(result) == [text(said)]


def test_a_large_result_stays_whole() -> None:
    assert content([part("x" * 5_000_000)]) == [text("x" * 5_000_000)]


def test_images_stand_between_the_words_where_they_stood() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": PNG}
    given = [part("before"), {"type": "data", "mimeType": "Image/PNG", "data": PNG}, part("after")]
    assert content(given) == [text("before"), image, text("after")]


def test_other_bytes_are_an_embedded_resource() -> None:
    assert content([data("application/zip", b"zip")]) == [
        {
            "type": "resource",
            "resource": {"uri": "vscodelm:result", "mimeType": "application/zip", "blob": "emlw"},
        }
    ]


def test_elements_of_prompt_tsx_are_read_to_their_leaves() -> None:
    nested = {"node": node(leaf("a"), node(leaf("b", 1), node(leaf("c", 2))), leaf("d"))}
    assert content([{"type": "prompt_tsx", "value": nested}]) == [text("a\nb\ncd")]
    assert content({"value": nested}) == content(nested) == [text("a\nb\ncd")]


def test_elements_of_prompt_tsx_may_hold_values_images_and_nothing() -> None:
    held = {
        "node": node(
            {"type": 3, "value": part("opaque")},
            node(props={"src": f"data:image/png;base64,{PNG}"}),
            node(props={"src": "https://example.org/x.png"}),
            {"type": 9},
            "what",
        )
    }
    assert content(held) == [
        text("opaque"),
        {"type": "image", "mimeType": "image/png", "data": PNG},
        text("[image: https://example.org/x.png]"),
    ]

"""Results of the editor's tools are read alike for every agent."""

from __future__ import annotations

from typing import Any

import pytest

from agents.acp.prompt.transcript import record
from agents.acp.schema.initialize import PromptCapabilities
from agents.mcp.results import content
from agents.open_responses.items import InputText
from agents.open_responses.request.content import result_contents
from agents.tool_result import BOOKKEEPING, TOO_DEEP, Piece, json_text, pieces
from bridge.wire import ChatMessage, DataPart, TextPart, ToolResultPart
from bridge.work import done
from tests.fakes.tool_results import PNG, data, leaf, node, part


def tsx(*children: Any) -> dict[str, Any]:
    return {"type": "prompt_tsx", "value": {"node": node(*children)}}


def told(result: Any) -> list[Piece]:
    return list(pieces(result))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, ""),
        ([], ""),
        ("plain", "plain"),
        ([part("a"), part("b")], "ab"),
        ({"type": "text", "text": "t"}, "t"),
        ({"value": "v"}, "v"),
        ({"content": [part("in")], "isError": False}, "in"),
        ({"content": [], "more": 1}, '{"content":[],"more":1}'),
        ({"type": "tool_result", "toolCallId": "1", "result": [part("inner")]}, "inner"),
        ({"type": "tool_result", "content": [part("inner")]}, "inner"),
        ([{"type": "thinking", "value": "hm"}, part("a")], "a"),
        (17, "17"),
        (False, "false"),
        ({"value": {"a": 1}}, '{"a":1}'),
        ({"value": {"a": 1}, "b": 2}, '{"value":{"a":1},"b":2}'),
        ({"mimeType": "image/png", "data": "not base64!"}, "not base64!"),
        (tsx(leaf("a"), node(leaf("b", 1), node(leaf("c", 2))), leaf("d")), "a\nb\ncd"),
        (tsx({"type": 3, "value": part("opaque")}, {"type": 9}, "what"), "opaque"),
        (tsx(node(props={"src": "https://host/x.png"})), "[image: https://host/x.png]"),
    ],
)
def test_words_are_said(result: Any, said: str) -> None:
    found = told(result)
    assert "".join(one for one in found if isinstance(one, str)) == said
    assert all(isinstance(one, str) for one in found)


def test_data_stands_where_it_stood() -> None:
    image = DataPart("image/png", b"\x89PNG")
    given = [part("a"), data("image/png", b"\x89PNG"), part("b")]
    assert told(given) == ["a", image, "b"]
    assert told(tsx(node(props={"src": f"data:image/png;base64,{PNG}"}), leaf("b"))) == [image, "b"]


@pytest.mark.parametrize("kind", [*sorted(BOOKKEEPING), "Usage", " usage ;v=1"])
def test_what_a_host_keeps_for_itself_is_no_piece(kind: str) -> None:
    """`tool_call_stream` tells how a call's arguments grew; the call itself comes whole."""
    assert told([data(kind, b"{}"), part("a")]) == ["a"]


RESULT = [
    part("It is "),
    tsx(leaf("sunny", 0), node(leaf("and warm", 1))),
    data("tool_call_stream", b'{"beginToolCalls":[{"name":"x"}]}'),
]
SAID = "It is sunny\nand warm"


def test_an_mcp_answer_says_what_a_prompt_tree_says() -> None:
    assert content(RESULT) == [{"type": "text", "text": SAID}]


def test_a_request_to_an_endpoint_says_what_a_prompt_tree_says() -> None:
    assert result_contents(RESULT) == (InputText(SAID),)


def test_a_replayed_chat_says_what_a_prompt_tree_says() -> None:
    chat = (
        ChatMessage("user", (TextPart("weather?"),)),
        ChatMessage("user", (ToolResultPart("1", RESULT),)),
    )
    told = "".join(map(str, done(record(chat, PromptCapabilities(), "request", 10_000))))
    assert SAID in told
    assert "node" not in told
    assert "beginToolCalls" not in told


@pytest.mark.parametrize("depth", [100, 5_000])
def test_trees_and_lists_are_read_however_deeply_they_are_nested(depth: int) -> None:
    tree, items, results = leaf("x"), part("x"), part("x")
    for _ in range(depth):
        tree = node(tree)
        items = [items]
        results = {"type": "tool_result", "result": results}
    assert told({"node": tree}) == told(items) == told(results) == ["x"]


def test_other_json_that_is_nested_too_deeply_is_a_word() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = {"a": value}
    assert told([part("a"), value]) == ["a", TOO_DEEP]
    assert json_text(value) == TOO_DEEP

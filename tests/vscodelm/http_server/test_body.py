from __future__ import annotations

import json
from typing import Any, cast

import pytest
from msgspec import UNSET, Raw

from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.body import (
    MOST_METADATA,
    MOST_TOOLS,
    FunctionTool,
    echo,
    model_options,
    offer_of,
    read_body,
)

TOOL = {"type": "function", "name": "read", "parameters": {"type": "object"}}


def read(**fields: Any) -> Any:
    return read_body(json.dumps({"model": "eliza", "input": "x", **fields}).encode())


def refusal(**fields: Any) -> tuple[int, str | None]:
    def use() -> None:
        body = read(**fields)
        offer_of(body.tools, body.tool_choice)

    with pytest.raises(ApiError) as raised:
        use()
    return raised.value.status, raised.value.param


def offered(choice: Any, *tools: Any) -> list[str]:
    body = read(tools=list(tools), tool_choice=choice)
    return [tool.name for tool in offer_of(body.tools, body.tool_choice).tools]


def test_unknown_fields_are_ignored() -> None:
    assert read(unheard={"of": []}, prompt_cache_key="x").model == "eliza"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b'{"model": "\xff"}'])
def test_what_is_no_object_in_json_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as raised:
        read_body(body)
    assert raised.value.status == 400


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ApiError) as raised:
        read_body(b'{"model": "eliza", "x": ' + b"[" * 5_000 + b"]" * 5_000 + b"}")
    assert raised.value.code == "invalid_json"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": ""}, "model"),
        ({"background": True}, "background"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"text": {"format": "json"}}, "text.format"),
        ({"metadata": {str(n): "" for n in range(MOST_METADATA + 1)}}, "metadata"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [TOOL, {**TOOL, "name": "a b"}]}, "tools[1].name"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [{**TOOL, "parameters": [1]}]}, "tools[0].parameters"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "name": "read"}}, "tool_choice"),
        (
            {"tool_choice": {"type": "allowed_tools", "tools": [], "mode": "required"}},
            "tool_choice",
        ),
        ({"tool_choice": {"type": "allowed_tools", "tools": ["read"]}}, "tool_choice.tools"),
    ],
)
def test_a_refusal_names_the_field(fields: dict[str, Any], param: str) -> None:
    assert refusal(**fields) == (400, param)


@pytest.mark.limit("vscodelm.http_server.body.MOST_TOOLS")
def test_too_many_functions_are_refused() -> None:
    assert len(offered(None, *[TOOL] * MOST_TOOLS)) == MOST_TOOLS
    assert refusal(tools=[TOOL] * (MOST_TOOLS + 1)) == (400, "tools")


@pytest.mark.limit("vscodelm.http_server.body.MOST_METADATA")
def test_so_many_pairs_of_metadata_are_kept() -> None:
    pairs = {str(n): "" for n in range(MOST_METADATA)}
    assert read(metadata=pairs).metadata == pairs


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (None, ["read", "write"]),
        ("auto", ["read", "write"]),
        ("none", []),
        (
            {"type": "allowed_tools", "tools": [{"type": "function", "name": "write"}]},
            ["write"],
        ),
    ],
)
def test_a_choice_leaves_some_functions(choice: Any, names: list[str]) -> None:
    assert offered(choice, TOOL, {**TOOL, "name": "write"}) == names


def test_a_function_is_offered_with_its_schema_and_echoed() -> None:
    offer = offer_of([FunctionTool("function", "bare")], None)
    assert offer.tools[0].input_schema is UNSET
    body = read(tools=[TOOL])
    offer = offer_of(body.tools, None)
    assert bytes(cast("Raw", offer.tools[0].input_schema)) == b'{"type": "object"}'
    echoed = echo(body, offer)["tools"][0]
    assert (echoed["name"], echoed["description"], echoed["strict"]) == ("read", None, None)


def test_the_functions_of_chat_completions_are_read_as_well() -> None:
    inner = {"type": "function", "function": {"name": "read", "description": "Reads."}}
    body = read(tools=[inner])
    assert offer_of(body.tools, None).tools[0].description == "Reads."


def test_fields_for_sampling_are_echoed_and_passed_on() -> None:
    body = read(temperature=0.5, max_output_tokens=99, reasoning={"effort": "low"})
    options = {"temperature": 0.5, "max_output_tokens": 99, "reasoning_effort": "low"}
    assert model_options(body) == options
    echoed = echo(body, offer_of(None, None))
    assert (echoed["temperature"], echoed["top_p"]) == (0.5, 1.0)
    assert echoed["reasoning"] == {"effort": "low", "summary": None}
    assert model_options(read()) == {}
    assert echo(read(), offer_of(None, None))["reasoning"] is None

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agents.open_responses.items import CallItem, MessageItem, ResultItem
from agents.open_responses.request.body import (
    further_options,
    options_body,
    tools_body,
    whole_body,
)
from bridge.models import AgentChoice
from bridge.wire import OpenResponsesSpec, ToolSpec

JSON = dict[str, Any]


def spec(**fields: Any) -> OpenResponsesSpec:
    return OpenResponsesSpec("http://x/v1", "small", **fields)


def options(model_options: JSON | None = None, further: JSON | None = None, **fields: Any) -> JSON:
    return options_body(spec(**fields), further or {}, model_options or {})


def body(**fields: Any) -> JSON:
    given: JSON = {
        "instructions": "",
        "items": [MessageItem("user", "Hello")],
        "previous_response_id": None,
        **fields,
    }
    return msgspec.json.decode(whole_body(spec(), {}, {}, **given))


def test_a_request_says_no_more_than_it_must() -> None:
    assert body() == {
        "model": "small",
        "input": [{"type": "message", "role": "user", "content": "Hello"}],
        "stream": True,
    }


def test_instructions_are_said_each_time() -> None:
    assert body(instructions="Be kind.")["instructions"] == "Be kind."
    assert body(instructions="Be kind.", previous_response_id="resp_1") == {
        **body(instructions="Be kind."),
        "previous_response_id": "resp_1",
    }


def test_ids_fit_unless_the_server_gave_them() -> None:
    long = "x" * 80
    items = [CallItem(long, "f", "{}"), ResultItem(long, "done")]
    told, answered = body(items=items)["input"]
    assert told["call_id"] == answered["call_id"] != long
    (kept,) = body(items=items[1:], previous_response_id="resp_1")["input"]
    assert kept["call_id"] == long


# Options.


def test_the_definition_s_options_are_said() -> None:
    assert options() == {}
    assert options(
        store=True, reasoning={"effort": "low"}, include=("x",), max_output_tokens=100
    ) == {
        "store": True,
        "reasoning": {"effort": "low"},
        "include": ["x"],
        "max_output_tokens": 100,
    }


def test_encrypted_reasoning_is_asked_for_where_the_server_keeps_nothing() -> None:
    encrypted = options(store=False, reasoning={"effort": "low"})["include"]
    assert encrypted == ["reasoning.encrypted_content"]
    assert options(store=False, reasoning={"effort": "low"}, include=("x",))["include"] == ["x"]
    assert "include" not in options(store=False)


def test_further_keys_are_the_endpoint_s_own() -> None:
    definition = {
        "baseUrl": "http://x/v1",
        "model": "m",
        "stateful": False,
        "service_tier": "flex",
        "top_p": None,
        "apiKey": "hunter2",
    }
    further = further_options(AgentChoice.of({"open_responses": definition}))
    assert further == {"service_tier": "flex", "top_p": None}
    assert options(further=further) == {"service_tier": "flex"}
    assert options(further={"stream": False, "model": "other"}) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"topP": 0.5}, {"top_p": 0.5}),
        ({"maxTokens": 100}, {"max_output_tokens": 100}),
        ({"max_tokens": 3}, {"max_output_tokens": 16}),
        ({"reasoningEffort": "low"}, {"reasoning": {"effort": "low"}}),
        ({"temperature": None}, {}),
        ({"_conversationId": "secret", "_": 1}, {}),
        ({"stream": False, "previousResponseId": "x", "input": "x", "tools": []}, {}),
    ],
)
def test_model_options_are_said_unless_they_are_private_or_ours(given: JSON, said: JSON) -> None:
    assert options(given) == said


def test_model_options_win() -> None:
    assert options({"temperature": 1}, {"temperature": 0}) == {"temperature": 1}
    assert options({"reasoning_effort": "low"}, reasoning={"summary": "auto"}) == {
        "reasoning": {"summary": "auto", "effort": "low"}
    }


# Tools.


def test_tools_are_functions_and_never_strict() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tool = ToolSpec("read_file", "Reads.", msgspec.Raw(msgspec.json.encode(schema)))
    assert tools_body([tool], required=False) == {
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads.",
                "parameters": schema,
                "strict": False,
            }
        ]
    }


@pytest.mark.parametrize("schema", [msgspec.UNSET, msgspec.Raw(b"null"), msgspec.Raw(b"true")])
def test_a_tool_without_a_schema_takes_an_object(schema: Any) -> None:
    (tool,) = tools_body([ToolSpec("a b", "", schema)], required=False)["tools"]
    assert tool["parameters"] == {"type": "object", "properties": {}}
    assert tool["name"] != "a b"
    assert "description" not in tool


def test_a_tool_can_be_required_if_there_is_one() -> None:
    assert tools_body([ToolSpec("a")], required=True)["tool_choice"] == "required"
    assert tools_body([], required=True) == {}

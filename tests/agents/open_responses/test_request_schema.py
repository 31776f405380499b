"""Whatever a chat holds, the request for it is one that the specification allows."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents.open_responses.request.body import options_body, tools_body, whole_body
from agents.open_responses.request.messages import ConversionOptions, convert_messages
from bridge.wire import (
    ChatMessage,
    DataPart,
    OpenResponsesSpec,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    UnknownPart,
)

from .schema_fragments import BODY

JSON = dict[str, Any]

_ROOT = Path(__file__).parents[3]
_SHARED = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared")
OPENAPI = _SHARED / "fixtures/open-responses/openapi-2026-04-24.json"

needs_openapi = pytest.mark.skipif(not OPENAPI.is_file(), reason="the specification isn't here")

FRAGMENTS: Any = Draft202012Validator(BODY)


@cache
def specification() -> Any:
    document = json.loads(OPENAPI.read_bytes())
    return Draft202012Validator({**document, "$ref": "#/components/schemas/CreateResponseBody"})


IDS = st.sampled_from(["gw-call_1", "call_1", "gw-2", "", "gw-", "x" * 90])
NAMES = st.one_of(st.just("read_file"), st.text(max_size=70))
RESULTS = st.recursive(
    st.one_of(
        st.none(),
        st.integers(),
        st.text(max_size=4),
        st.just({"type": "data", "mimeType": "image/png", "data": "AAAA"}),
        st.just({"type": "text", "value": "x"}),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        inner.map(lambda value: {"type": "tool_result", "result": value}),
    ),
    max_leaves=4,
)
PARTS = st.one_of(
    st.builds(TextPart, st.text(max_size=5)),
    st.builds(ToolCallPart, IDS, NAMES, st.dictionaries(st.text(max_size=3), st.integers())),
    st.builds(ToolResultPart, IDS, RESULTS, st.booleans()),
    st.builds(ThinkingPart, st.text(max_size=3)),
    st.builds(
        DataPart,
        st.sampled_from(
            ["image/png", "image/bmp", "text/plain", "application/pdf", "usage", "odd", "a/b; c"]
        ),
        st.binary(max_size=4),
    ),
    st.just(UnknownPart("odd", b"{}")),
)
MESSAGES = st.lists(
    st.builds(
        ChatMessage,
        st.sampled_from(["user", "assistant", "system"]),
        st.lists(PARTS, max_size=4).map(tuple),
    ),
    max_size=5,
)
OPTIONS = st.builds(
    ConversionOptions,
    st.sampled_from(["request", "full"]),
    st.sampled_from(["instructions", "developer", "system"]),
    st.sampled_from(["placeholder", "skip"]),
    st.sampled_from(["result", "message"]),
    st.sampled_from(["grouped", "interleaved"]),
)


@st.composite
def bodies(draw: st.DrawFn) -> JSON:
    messages = [*draw(MESSAGES), ChatMessage("user", (TextPart("Well?"),))]
    converted = convert_messages(messages, draw(OPTIONS))
    tools = [ToolSpec(name, description) for name, description in draw(TOOLS)]
    spec = OpenResponsesSpec(
        "http://x", "m", store=draw(st.sampled_from([None, False])), reasoning={"effort": "low"}
    )
    model_options = draw(
        st.dictionaries(st.sampled_from(["temperature", "maxTokens", "_x", "stream"]), NUMBERS)
    )
    raw = whole_body(
        spec,
        options_body(spec, {}, model_options),
        tools_body(tools, required=draw(st.booleans())),
        instructions=converted.instructions,
        items=converted.items,
        previous_response_id=None,
    )
    return json.loads(raw)


NUMBERS = st.integers(0, 100)
TOOLS = st.lists(st.tuples(NAMES, st.sampled_from(["", "Reads."])), max_size=2)


@given(bodies())
def test_every_request_is_as_we_understand_the_specification(body: JSON) -> None:
    FRAGMENTS.validate(body)


@needs_openapi
@given(bodies())
def test_every_request_is_as_the_specification_itself_wants_it(body: JSON) -> None:
    specification().validate(body)


@needs_openapi
def test_the_specification_can_say_no() -> None:
    body: JSON = {"model": "m", "input": [{"type": "message", "role": "user", "content": "x"}]}
    specification().validate(body)
    bad = {"type": "function_call", "call_id": "x" * 65, "name": "f", "arguments": "{}"}
    assert not specification().is_valid({**body, "input": [bad]})


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "x" * 65, "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "x", "name": "a b", "arguments": "{}"},
        {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}", "id": None},
        {"type": "message", "role": "user", "content": []},
        {"type": "message", "role": "user", "content": ""},
        {"type": "reasoning"},
    ],
)
def test_our_fragments_can_say_no(item: JSON) -> None:
    body = {"model": "m", "stream": True, "input": [item]}
    assert not FRAGMENTS.is_valid(body)

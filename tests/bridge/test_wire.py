"""The shapes of the wire: names, defaults, and what is refused where."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from msgspec import UNSET

from bridge.wire import (
    AgentSpec,
    CancelParams,
    Capabilities,
    ChatMessage,
    ChatOptions,
    ChatParams,
    DataPart,
    InitializeParams,
    InitializeResult,
    KnownPart,
    ModelInformation,
    ModelsParams,
    Part,
    ResponsePartParams,
    Settings,
    TextPart,
    ThinkingPart,
    TokenCountParams,
    ToolCallPart,
    ToolFilter,
    ToolResultPart,
    UnknownPart,
    decode_part,
)
from bridge.wire import ClientInfo as Peer
from tests.strategies import parts

PARTS: list[tuple[Part, str]] = [
    (TextPart("a"), '{"type":"text","value":"a"}'),
    (
        ToolCallPart("c1", "read", {"path": "a"}),
        '{"type":"tool_call","toolCallId":"c1","toolName":"read","parameters":{"path":"a"}}',
    ),
    (
        ToolResultPart("c1", [1], is_error=True),
        '{"type":"tool_result","toolCallId":"c1","result":[1],"isError":true}',
    ),
    (ToolResultPart("c1"), '{"type":"tool_result","toolCallId":"c1"}'),
    (
        ThinkingPart(["a", "b"], "t", {"k": 1}),
        '{"type":"thinking","value":["a","b"],"id":"t","metadata":{"k":1}}',
    ),
    (DataPart("image/png", b"\0\1"), '{"type":"data","mimeType":"image/png","data":"AAE="}'),
]


@pytest.mark.parametrize(("part", "json"), PARTS)
def test_parts_look_on_the_wire_as_the_protocol_says(part: Part, json: str) -> None:
    assert msgspec.json.encode(part).decode() == json
    assert msgspec.json.decode(json, type=KnownPart) == part


@given(parts.filter(lambda part: not isinstance(part, UnknownPart)))
def test_parts_survive_the_way_there_and_back(part: Part) -> None:
    assert msgspec.json.decode(msgspec.json.encode(part), type=KnownPart) == part


def test_unknown_fields_are_ignored() -> None:
    params = msgspec.json.decode(b'{"silent":true,"new":[1]}', type=ModelsParams)
    assert params == ModelsParams(silent=True)


def test_results_are_written_whole_and_what_is_unset_is_left_out() -> None:
    model = ModelInformation("m", "M", "f", "1", 1, 2)
    assert msgspec.json.decode(msgspec.json.encode(model)) == {
        "id": "m",
        "name": "M",
        "family": "f",
        "version": "1",
        "maxInputTokens": 1,
        "maxOutputTokens": 2,
        "capabilities": {"toolCalling": True, "imageInput": False},
    }
    result = msgspec.json.decode(msgspec.json.encode(InitializeResult(Peer("vscodelm", "1"))))
    assert result == {
        "serverInfo": {"name": "vscodelm", "version": "1"},
        "capabilities": {"cancel": True, "stats": True, "settings": True},
    }


def test_a_client_that_says_nothing_of_its_capabilities_has_none() -> None:
    params = msgspec.json.decode(b'{"clientInfo":{"name":"x"}}', type=InitializeParams)
    assert params.capabilities == Capabilities(
        thinking=False, data=False, usage=False, marker=False
    )


def test_ids_are_numbers_or_strings_and_never_change() -> None:
    for request_id in (7, "7", 2**60):
        sent = msgspec.json.encode(ResponsePartParams(request_id, TextPart("")))
        assert msgspec.json.decode(sent)["requestId"] == request_id
        asked = msgspec.json.encode({"requestId": request_id})
        assert msgspec.json.decode(asked, type=CancelParams).request_id == request_id


# Agents.


def agent(json: str) -> AgentSpec:
    return msgspec.json.decode(json, type=AgentSpec)


def test_agents_of_every_kind_are_read() -> None:
    eliza = agent('{"eliza":{"deterministic":true}}').eliza
    assert eliza is not UNSET
    assert eliza.deterministic
    server = '{"name":"c","command":"x","args":["a"],"env":[{"name":"N","value":"V"}],"cwd":"/"}'
    for kind in ("mcp_server", "acp"):
        spec = getattr(agent(f'{{"{kind}":{server}}}'), kind)
        assert (spec.name, spec.command, spec.args, spec.cwd) == ("c", "x", ("a",), "/")
        assert [(one.name, one.value) for one in spec.env] == [("N", "V")]
    endpoint = agent('{"open_responses":{"baseUrl":"http://x/v1","model":"m","store":true}}')
    assert endpoint.open_responses is not UNSET
    assert endpoint.open_responses.base_url == "http://x/v1"


@pytest.mark.parametrize(
    ("json", "told"),
    [
        ("{}", "got none of them"),
        ('{"robot":{}}', "got none of them"),
        ('{"eliza":{},"acp":{"name":"a","command":"b"}}', "got eliza, acp"),
    ],
)
def test_an_agent_is_exactly_one_of_its_kinds(json: str, told: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        agent(json)


# Settings and options.


def test_settings_have_defaults() -> None:
    settings = msgspec.json.decode(b"{}", type=Settings)
    assert settings == Settings()
    assert (settings.permissions, settings.thinking, settings.rewind) == ("ask", "part", "auto")
    assert settings.tools == ToolFilter(("*",), ())


@pytest.mark.parametrize(
    ("json", "told"),
    [
        ({"idleSeconds": 0}, "idleSeconds must be more than 0"),
        ({"idleSeconds": -1.5}, "idleSeconds must be more than 0"),
        ({"maxSessions": 0}, "maxSessions must be at least 1"),
        ({"permissions": "yes"}, r"\$.permissions"),
        ({"tools": {"include": [1]}}, r"\$.tools.include\[0\]"),
    ],
)
def test_settings_that_make_no_sense_are_refused(json: dict[str, Any], told: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        msgspec.json.decode(msgspec.json.encode(json), type=Settings)


@pytest.mark.parametrize("mode", ["auto", "required", 1, 2])
def test_the_tool_mode_may_be_a_word_or_the_hosts_number(mode: str | int) -> None:
    options = msgspec.json.decode(msgspec.json.encode({"toolMode": mode}), type=ChatOptions)
    assert options.tool_mode == mode


def test_a_tool_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="toolMode"):
        msgspec.json.decode(b'{"toolMode":3}', type=ChatOptions)


# Parameters.


def test_a_chat_request_keeps_its_messages_raw() -> None:
    params = msgspec.json.decode(b'{"modelId":"m","messages":[{"x": 1}]}', type=ChatParams)
    assert [bytes(message) for message in params.messages] == [b'{"x": 1}']
    assert (params.agent, params.settings) == (UNSET, UNSET)


def test_a_chat_request_without_messages_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"length >= 1 - at `\$.messages`"):
        msgspec.json.decode(b'{"modelId":"m","messages":[]}', type=ChatParams)


@pytest.mark.parametrize("json", ["", ',"text":"a","message":{}'])
def test_tokens_are_counted_of_a_text_or_of_a_message(json: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="exactly one of `text` and `message`"):
        msgspec.json.decode(f'{{"modelId":"m"{json}}}', type=TokenCountParams)


def test_an_empty_text_is_a_text() -> None:
    params = msgspec.json.decode(b'{"modelId":"m","text":""}', type=TokenCountParams)
    assert (params.text, params.message) == ("", UNSET)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ('"baseUrl":"ftp://x"', "baseUrl"),
        ('"baseUrl":"http://"', "baseUrl"),
        ('"baseUrl":"http://[x"', "baseUrl"),
        ('"baseUrl":"http://[1:2:3]/v1"', "baseUrl"),
        ('"baseUrl":"http://x:99999/v1"', "baseUrl"),
        ('"baseUrl":"http://x:0"', "baseUrl"),
        ('"baseUrl":"http://x:port"', "baseUrl"),
        ('"baseUrl":"http://x y"', "baseUrl"),
        ('"baseUrl":"http://x\\ny"', "baseUrl"),
        ('"baseUrl":"http://x/\\u0000"', "baseUrl"),
        ('"baseUrl":"http://x","maxOutputTokens":15', "at least 16"),
        ('"baseUrl":"http://x","idleSeconds":0', "more than 0"),
        ('"baseUrl":"http://x","connectSeconds":-1', "more than 0"),
        ('"baseUrl":"http://x","retries":-1', "less than 0"),
    ],
)
def test_an_endpoint_that_can_not_be_asked_is_refused(field: str, words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        agent(f'{{"open_responses":{{{field},"model":"m"}}}}')


@pytest.mark.parametrize("address", ["http://x", "https://x:1/v1?a=b", "http://[::1]:80/v1"])
def test_an_endpoint_has_an_address(address: str) -> None:
    agent(f'{{"open_responses":{{"baseUrl":"{address}","model":"m"}}}}')


@given(parts)
def test_a_part_comes_back_whatever_its_kind(part: Part) -> None:
    raw = part.json if isinstance(part, UnknownPart) else msgspec.json.encode(part)
    assert decode_part(raw) == part


@pytest.mark.parametrize("raw", [b"{}", b'{"type":1}', b'{"type":"text"}', b"[]", b'{"type":"te'])
def test_a_part_without_a_kind_or_its_fields_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_part(raw)


def test_the_text_of_a_message_has_no_other_parts_in_it() -> None:
    picture = DataPart("image/png", b"png")
    parts = (TextPart("a "), picture, ThinkingPart("hm"), TextPart("b"))
    assert ChatMessage("user", parts).text == "a b"
    assert ChatMessage("user", (picture,)).text == ""


@pytest.mark.parametrize("kind", ["mcp_server", "acp"])
def test_an_agent_has_one_definition_by_either_name(kind: str) -> None:
    spec = agent(f'{{"{kind}":{{"name":"n","command":"c"}}}}')
    assert spec.definition is getattr(spec, kind)


@pytest.mark.parametrize("kind", ["eliza", "open_responses"])
def test_the_definition_is_the_kind_that_is_given(kind: str) -> None:
    fields = {"eliza": "{}", "open_responses": '{"baseUrl":"http://x","model":"m"}'}
    spec = agent(f'{{"{kind}":{fields[kind]}}}')
    assert spec.definition is getattr(spec, kind)


def test_a_tool_is_allowed_if_it_is_included_and_not_excluded() -> None:
    chosen = ToolFilter(include=("read_*", "run"), exclude=("*_file",))
    allowed = [one for one in ("read_page", "read_file", "run", "Run") if chosen.allows(one)]
    assert allowed == ["read_page", "run"]
    assert ToolFilter().allows("anything")

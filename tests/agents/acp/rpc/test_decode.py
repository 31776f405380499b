"""Lines of agents, whatever they print."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from agents.acp.rpc.decode import (
    SHOWN,
    Envelope,
    Skipped,
    decode_lines,
    decode_params,
    decode_result,
    decode_update,
)
from agents.acp.rpc.surrogates import TextJoiner
from agents.acp.schema.content import Content, Diff, TextContent, ToolCall, ToolCallUpdate
from agents.acp.schema.errors import Error, ProtocolFault
from agents.acp.schema.methods import (
    CLOSE_SESSION,
    LOAD_SESSION,
    NEW_SESSION,
    PROMPT,
    EmptyResponse,
    LoadSessionResponse,
    RequestPermissionRequest,
)
from agents.acp.schema.options import SessionModelState
from agents.acp.schema.updates import (
    AgentMessageChunk,
    CurrentModeUpdate,
    MessageChunk,
    SessionNotification,
    SessionUpdate,
    UnknownUpdate,
)
from bridge.jsonrpc import LineSplitter
from tests.agents.acp.strategies import json_values, values


def one(line: bytes) -> Envelope | Skipped:
    (message,) = decode_lines([line])
    return message


def envelope(line: bytes) -> Envelope:
    message = one(line)
    assert isinstance(message, Envelope), message
    return message


def loaded(raw: Raw | Any) -> Any:
    assert isinstance(raw, Raw)
    return json.loads(bytes(raw))


# What kind of message.


def test_a_request_a_notification_and_responses_are_told_apart() -> None:
    request = envelope(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}')
    assert (request.id, request.method, loaded(request.params)) == (1, "m", {"a": 1})
    notification = envelope(b'{"jsonrpc":"2.0","method":"m"}')
    assert (notification.id, notification.method, notification.params) == (UNSET, "m", UNSET)
    result = envelope(b'{"jsonrpc":"2.0","id":"a","result":{"b":2}}')
    assert (result.id, result.method, loaded(result.result)) == ("a", None, {"b": 2})
    error = envelope(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}')
    assert (error.id, error.method, error.error) == (1, None, Error(-32000, "no"))


@pytest.mark.parametrize("id_", [0, -1, 2**63, "x", "", None])
@pytest.mark.checklist(10)
def test_an_id_is_a_number_a_string_or_null(id_: Any) -> None:
    assert envelope(json.dumps({"id": id_, "method": "m"}).encode()).id == id_
    assert envelope(json.dumps({"id": id_, "result": {}}).encode()).id == id_


def test_a_response_with_nothing_in_it_is_one_with_null() -> None:
    assert envelope(b'{"jsonrpc":"2.0","id":5}') == Envelope(5)


def test_null_is_like_absent_in_an_envelope() -> None:
    message = envelope(b'{"id":1,"method":null,"params":null,"error":null,"result":{"a":1}}')
    assert (message.method, message.error, loaded(message.result)) == (None, None, {"a": 1})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"Loaded cached credentials.", "not JSON"),
        (b"\x1b[2J{}", "not JSON"),
        (b'{"id":1', "not JSON"),
        (b'{"id":1}}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"1" * 5_000, "not JSON"),
        (b"3", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
        (b"{}", "neither a request nor a response"),
        (b'{"level":"info"}', "neither a request nor a response"),
        (b'{"level":NaN}', "neither a request nor a response"),
        (b'{"result":{}}', "neither a request nor a response"),
        (b'{"id":1,"method":7}', "neither a request nor a response"),
        (b'{"id":{},"method":"m"}', "its `id` is no id"),
        (b'{"id":true,"result":1}', "its `id` is no id"),
        (b'{"id":1.5,"result":1}', "its `id` is no id"),
        (b"[]", "an empty batch"),
    ],
)
def test_a_line_that_is_no_message_is_skipped_with_the_reason(line: bytes, reason: str) -> None:
    message = one(line)
    assert isinstance(message, Skipped)
    assert message.reason == reason
    assert message.text == line.decode(errors="replace")[:SHOWN]


def test_messages_after_a_skipped_line_are_read() -> None:
    first, second, third = decode_lines([b'{"id":1}', b"what?", b'{"id":2}'])
    assert isinstance(second, Skipped)
    assert (first, third) == (Envelope(1), Envelope(2))


@pytest.mark.checklist(9)
def test_a_line_that_is_too_long_is_skipped() -> None:
    lines = LineSplitter(limit=10).feed(b'{"id":1}\n' + b"x" * 11 + b'\n{"id":2}\r\n')
    first, skipped, last = decode_lines(lines)
    assert (first, last) == (Envelope(1), Envelope(2))
    assert skipped == Skipped("a line of 11 bytes is too long")


@pytest.mark.checklist(8)
def test_a_batch_gives_its_messages_in_order() -> None:
    first, second, third = decode_lines([b'[{"id":1,"result":{"a":1}},3,{"method":"m"}]'])
    assert isinstance(first, Envelope)
    assert loaded(first.result) == {"a": 1}
    assert second == Skipped("not an object", '[{"id":1,"result":{"a":1}},3,{"method":"m"}]')
    assert third == Envelope(method="m")


@pytest.mark.parametrize("line", [b'{"id":1}\r', b'  {"id":1}  ', b'\xef\xbb\xbf{"id":1}'])
@pytest.mark.checklist(8)
def test_line_ends_blanks_and_a_byte_order_mark_do_no_harm(line: bytes) -> None:
    assert envelope(line) == Envelope(1)


def test_a_whole_number_with_a_point_is_an_id() -> None:
    assert envelope(b'{"id":4.0,"result":1}').id == 4


@pytest.mark.parametrize(
    ("error", "read_as"),
    [
        (b'"boom"', Error(-32603, "boom", "boom")),
        (b'{"message":"boom"}', Error(-32603, "boom", {"message": "boom"})),
        (b'{"code":-32000.0,"message":"m"}', Error(-32000, "m")),
        (b'{"code":1}', Error(-32603, '{"code": 1}')),
        (b"[1]", Error(-32603, "[1]")),
        (
            b'{"code":-1,"message":"cut \\ud83d","data":"\\ud83d"}',
            Error(-1, "cut \ufffd", "\ufffd"),
        ),
    ],
)
def test_an_error_fails_its_request_whatever_it_looks_like(error: bytes, read_as: Error) -> None:
    assert envelope(b'{"id":1,"error":' + error + b"}") == Envelope(1, error=read_as)


def test_names_and_ids_cut_inside_a_character_can_be_sent_back() -> None:
    message = envelope(b'{"id":"a\\ud83d","method":"m\\ude00"}')
    assert (message.id, message.method) == ("a\ufffd", "m\ufffd")


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_no_bytes_are_fatal(chunks: list[bytes]) -> None:
    splitter = LineSplitter()
    for chunk in chunks:
        decode_lines(splitter.feed(chunk))
    decode_lines(splitter.finish())


@given(json_values)
def test_no_json_is_fatal(value: Any) -> None:
    (message,) = decode_lines([json.dumps({"id": 1, "method": "m", "params": value}).encode()])
    assert isinstance(message, Envelope)
    for type_ in (SessionNotification, RequestPermissionRequest):
        with pytest.raises(ProtocolFault):
            decode_params(type_, message.params, "m")


# What it says.


def update(value: Any) -> SessionUpdate:
    """Return what is read of an update, through a whole line."""
    line = {"method": "session/update", "params": {"sessionId": "s", "update": value}}
    notification = decode_update(envelope(json.dumps(line).encode()).params)
    assert notification.session_id == "s"
    return notification.update


def chunk(text: str, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}


def test_a_chunk_is_read() -> None:
    assert update(chunk("hi", messageId="m")) == AgentMessageChunk(TextContent("hi"), "m")


@pytest.mark.parametrize(
    "kind", ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
)
@pytest.mark.checklist(23)
def test_a_character_that_was_cut_between_chunks_comes_out_whole(kind: str) -> None:
    joiner, said = TextJoiner(), ""
    for text in ("smile \ud83d", "\ude00\ud83d", "\ude00 \ud83d\ude00!"):
        read = update(chunk(text, kind))
        assert isinstance(read, MessageChunk)
        assert isinstance(read.content, TextContent)
        said += joiner.push(read.content.text)
    assert said == "smile \U0001f600\U0001f600 \U0001f600!"


def test_other_texts_that_were_cut_are_mended_at_once() -> None:
    read = update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "cut \ud83d"})
    assert read == ToolCall("c", "cut \ufffd")
    read = update({"sessionUpdate": "later", "x\ud83d": ["\ude00"]})
    assert read == UnknownUpdate("later", {"sessionUpdate": "later", "x\ufffd": ["\ufffd"]})


def test_not_a_number_is_null() -> None:
    line = b'{"method":"m","params":{"toolCallId":"c","rawInput":{"x":NaN,"y":[-Infinity]}}}'
    read = decode_params(ToolCallUpdate, envelope(line).params, "m")
    assert read.raw_input == {"x": None, "y": [None]}


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    line = b'{"method":"m","params":{"sessionId":"s","update":' + json.dumps(chunk("a?b")).encode()
    read = decode_update(envelope(line.replace(b"?", b"\xff\xed\xa0\xbd") + b"}}").params)
    assert read.update == AgentMessageChunk(TextContent("a\ufffd\ufffd\ufffd\ufffdb"))


def test_a_raw_control_character_in_a_string_is_taken() -> None:
    line = b'{"method":"m","params":{"toolCallId":"c\x01"}}'
    assert decode_params(ToolCallUpdate, envelope(line).params, "m").tool_call_id == "c\x01"


def test_a_mode_is_read_under_the_name_of_the_examples_too() -> None:
    assert update({"sessionUpdate": "current_mode_update", "modeId": "plan"}) == CurrentModeUpdate(
        "plan"
    )
    both = {"sessionUpdate": "current_mode_update", "modeId": "x", "currentModeId": "plan"}
    assert update(both) == CurrentModeUpdate("plan")


def test_bare_content_of_a_tool_is_taken_as_in_the_examples() -> None:
    items = [
        {"type": "text", "text": "bare"},
        {"type": "content", "content": {"type": "text", "text": "wrapped"}},
        "no content",
        {"type": "diff", "path": "/x", "newText": "y", "oldText": None},
    ]
    expected = (
        Content(TextContent("bare")),
        Content(TextContent("wrapped")),
        Diff("/x", "y"),
    )
    call = {"toolCallId": "c", "content": items}
    assert update({"sessionUpdate": "tool_call_update", **call}) == ToolCallUpdate(
        "c", content=expected
    )
    asked = Raw(json.dumps({"sessionId": "s", "toolCall": call, "options": []}).encode())
    request = decode_params(RequestPermissionRequest, asked, "session/request_permission")
    assert request.tool_call.content == expected


def test_content_of_a_tool_that_is_no_list_is_none() -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": "text"}
    assert update(call) == ToolCall("c", "t")


def test_a_permission_request_for_a_whole_tool_call_is_read() -> None:
    """Some agents put the tag of the update into it."""
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"}
    raw = Raw(json.dumps({"sessionId": "s", "toolCall": call, "options": []}).encode())
    request = decode_params(RequestPermissionRequest, raw, "m")
    assert request.tool_call == ToolCallUpdate("c", "t")


@pytest.mark.parametrize("raw", [UNSET, Raw(b"null"), Raw(b"{}")])
def test_a_result_of_null_or_nothing_is_an_empty_one(raw: Any) -> None:
    assert decode_result(LOAD_SESSION, raw) == LoadSessionResponse()
    assert decode_result(CLOSE_SESSION, raw) == EmptyResponse()
    with pytest.raises(ProtocolFault, match="result of session/new: `sessionId` is missing"):
        decode_result(NEW_SESSION, raw)


def test_parameters_that_are_not_there_are_a_fault() -> None:
    with pytest.raises(ProtocolFault, match="session/update: `sessionId` is missing"):
        decode_update(UNSET)


def test_models_of_the_time_before_options_are_read() -> None:
    raw = b'{"sessionId":"s","models":{"currentModelId":"m","availableModels":[{"modelId":"m"}]}}'
    assert decode_result(NEW_SESSION, Raw(raw)).models == SessionModelState("m")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (b"[]", "expected an object, got an array - at `$`"),
        (b'{"sessionId":"s"}', "`update` is missing - at `$`"),
        (b'{"sessionId":"s","update":{}}', "expected a string, got null - at"),
        (
            b'{"sessionId":"s","update":{"sessionUpdate":"tool_call","title":"t"}}',
            "`toolCallId` is missing - at `$.update`",
        ),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
        (b'{"a":' + b"1" * 5_000 + b"}", "4300 digits"),
    ],
)
def test_a_fault_says_in_what_and_where(params: bytes, message: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode_update(Raw(params))
    assert str(caught.value).startswith("session/update: ")
    assert message in str(caught.value)


def test_a_stop_reason_of_a_later_version_is_kept() -> None:
    assert decode_result(PROMPT, Raw(b'{"stopReason":"paused"}')).stop_reason == "paused"


@settings(max_examples=25)
@given(values(SessionNotification))
def test_a_batch_says_the_same_as_a_line(value: SessionNotification) -> None:
    line = b'{"method":"session/update","params":' + msgspec.json.encode(value) + b"}"
    for written in (line, b"[" + line + b"]"):
        assert decode_update(envelope(written).params) == value

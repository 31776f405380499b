"""The table of methods."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import wire
from bridge.errors import RpcError
from bridge.jsonrpc import InvalidLine, RpcRequest, decode_params, parse_line
from bridge.methods import CHAT, METHODS, REQUESTS, WireMethod, decoder, read_chat
from tests.strategies import json_values

BY_DIRECTION = {
    "request": {
        "lm/initialize",
        "lm/provideLanguageModelChatInformation",
        "lm/provideLanguageModelChatResponse",
        "lm/provideTokenCount",
        "lm/stats",
        "lm/inspect",
        "lm/logIn",
        "lm/logOut",
        "lm/agentSessions",
    },
    "notification to us": {
        "lm/cancel",
        "$/cancelRequest",
        "lm/cancelProgress",
        "lm/didChangeWorkspaceFolders",
        "lm/didChangeMcpServers",
    },
    "notification from us": {
        "lm/progress",
        "lm/watchFiles",
        "lm/responsePart",
        "lm/responseComplete",
        "lm/didChangeLanguageModelChatInformation",
    },
    "request from us": {"lm/elicit", "lm/readTextFile", "lm/changedFiles"},
}


def test_the_methods_are_those_of_the_protocol() -> None:
    found = {
        direction: {method.name for method in METHODS if method.direction == direction}
        for direction in BY_DIRECTION
    }
    assert found == BY_DIRECTION
    assert len(METHODS) == sum(map(len, BY_DIRECTION.values()))
    assert BY_DIRECTION["request"] == REQUESTS


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_what_we_serve_has_a_decoder_and_what_is_asked_has_a_result(method: WireMethod) -> None:
    serves = method.direction in ("request", "notification to us")
    assert (decoder(method.name) is not None) is serves
    assert (method.result is not None) is ("request" in method.direction)
    assert method.summary.endswith(".")


def test_a_method_that_we_do_not_know_has_no_decoder() -> None:
    assert decoder("lm/unheardOf") is None


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("lm/initialize", b'{"clientInfo":{"name":"x"}}', wire.InitializeParams),
        ("lm/provideLanguageModelChatInformation", b"{}", wire.ModelsParams),
        (
            "lm/provideLanguageModelChatResponse",
            b'{"modelId":"m","messages":[{}]}',
            wire.ChatParams,
        ),
        ("lm/provideTokenCount", b'{"modelId":"m","text":""}', wire.TokenCountParams),
        ("lm/stats", b"{}", wire.StatsParams),
        ("lm/logIn", b'{"modelId":"m","methodId":"browser"}', wire.LogInParams),
        ("lm/logOut", b'{"modelId":"m"}', wire.LogOutParams),
        ("lm/cancel", b'{"requestId":1}', wire.CancelParams),
        ("$/cancelRequest", b'{"id":"a"}', wire.CancelRequestParams),
    ],
)
def test_a_decoder_reads_the_parameters_of_its_method(
    method: str, params: bytes, expected: type
) -> None:
    found = decoder(method)
    assert found is not None
    assert type(found.decode(params)) is expected


# A chat in one pass.

MESSAGE = b'{"role":"user","content":[]}'
PARAMS = b'{"modelId":"m","messages":[' + MESSAGE + b"]}"


def chat_line(params: bytes = PARAMS, request: bytes = b"7", method: str = CHAT) -> bytes:
    head = b'{"jsonrpc":"2.0","id":' + request + b',"method":"' + method.encode() + b'","params":'
    return head + params + b"}"


@pytest.mark.parametrize(("request_json", "expected"), [(b"7", 7), (b'"x"', "x")])
def test_a_chat_is_read_in_one_pass(request_json: bytes, expected: wire.RequestId) -> None:
    found = read_chat(chat_line(request=request_json))
    assert found is not None
    request, params = found
    assert (request, params.model_id) == (expected, "m")
    assert [bytes(message) for message in params.messages] == [MESSAGE]


@pytest.mark.parametrize(
    "line",
    [
        chat_line(method="lm/stats"),
        chat_line(method="lm/cancel", params=b'{"requestId":"' + CHAT.encode() + b'"}'),
        chat_line(request=b"null"),
        chat_line(request=b"1.5"),
        chat_line().replace(b'"2.0"', b'"1.0"'),
        chat_line().replace(b'"jsonrpc":"2.0",', b""),
        chat_line(params=b'{"modelId":"m","messages":[]}'),
        chat_line(params=b'{"modelId":5,"messages":[{}]}'),
        chat_line(params=b'{"modelId":"\xff","messages":[{}]}'),
        chat_line(params=b"[]"),
        chat_line(params=b"{"),
        chat_line(params=b"[" * 200_000),
        chat_line(params=PARAMS.replace(b"content", rb"\ud83d")),
        CHAT.encode(),
        b"",
    ],
)
def test_what_is_no_chat_or_is_not_quite_right_goes_the_way_by_the_envelope(line: bytes) -> None:
    """There it is found out what is wrong, and told, or repaired."""
    assert read_chat(line) is None


def test_a_method_that_comes_late_is_left_to_the_envelope() -> None:
    """Long lines of other methods aren't searched for a name that they don't have."""
    params = b'{"modelId":"' + b"m" * 300 + b'","messages":[' + MESSAGE + b"]}"
    assert read_chat(chat_line(params)) is not None
    late = b'{"jsonrpc":"2.0","id":7,"params":' + params + b',"method":"' + CHAT.encode() + b'"}'
    assert read_chat(late) is None
    assert read_by_envelope(late) == read_chat(chat_line(params))


def read_by_envelope(line: bytes) -> tuple[wire.RequestId, Any] | None:
    try:
        call = parse_line(line)
        chat = decoder(CHAT)
        assert chat is not None
        if isinstance(call, RpcRequest) and call.method == CHAT:
            return call.id, decode_params(chat, call.params)
    except (InvalidLine, RpcError):
        pass
    return None


fields: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": st.sampled_from([1, "a", None, 1.5]),
        "method": st.sampled_from([CHAT, "lm/stats", 5]),
        "params": st.fixed_dictionaries(
            {},
            optional={
                "modelId": st.sampled_from(["m", 5]),
                "messages": st.lists(json_values, max_size=2),
                "options": json_values,
                "other": json_values,
            },
        ),
        "other": json_values,
    },
)
options: st.SearchStrategy[Any] = st.just({"toolMode": "required"})
right: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.sampled_from([1, "a"]),
        "method": st.just(CHAT),
        "params": st.fixed_dictionaries(
            {"modelId": st.just("m"), "messages": st.lists(json_values, min_size=1, max_size=2)},
            optional={"options": options, "other": json_values},
        ),
    },
    optional={"other": json_values},
)


@given(right | fields)
def test_one_pass_reads_what_the_envelope_reads(line: dict[str, Any]) -> None:
    encoded = msgspec.json.encode(line)
    found = read_chat(encoded)
    by_envelope = read_by_envelope(encoded)
    assert found is None or found == by_envelope
    if by_envelope is not None and CHAT.encode() in encoded[:256]:
        assert found is not None

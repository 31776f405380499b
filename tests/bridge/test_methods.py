"""The table of methods."""

from __future__ import annotations

import pytest

from bridge import wire
from bridge.methods import METHODS, REQUESTS, Method, decoder

BY_DIRECTION = {
    "request": {
        "lm/initialize",
        "lm/provideLanguageModelChatInformation",
        "lm/provideLanguageModelChatResponse",
        "lm/provideTokenCount",
        "lm/stats",
    },
    "notification to us": {"lm/cancel", "$/cancelRequest"},
    "notification from us": {
        "lm/responsePart",
        "lm/responseComplete",
        "lm/didChangeLanguageModelChatInformation",
    },
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
def test_what_we_serve_has_a_decoder_and_what_is_asked_has_a_result(method: Method) -> None:
    serves = method.direction != "notification from us"
    assert (decoder(method.name) is not None) is serves
    assert (method.result is not None) is (method.direction == "request")
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

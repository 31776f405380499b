from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest

from bridge.errors import Failure, FailureKind
from vscodelm.http_server.api_error import (
    RETRY_SECONDS,
    ApiError,
    bad_request,
    not_decodable,
    of_failure,
)


class _Body(msgspec.Struct):
    numbers: list[int]


def test_the_body_has_the_specifications_shape() -> None:
    body = json.loads(ApiError(404, "gone", "It is gone.", "id").body)
    assert body == {
        "error": {"type": "not_found", "code": "gone", "message": "It is gone.", "param": "id"}
    }


@pytest.mark.parametrize(
    ("body", "place", "param"),
    [
        (b'{"numbers": [1, "x"]}', "", "numbers[1]"),
        (b'{"numbers": [1, "x"]}', "input[2]", "input[2].numbers[1]"),
        (b"[]", "", None),
        (b"[]", "input[2]", "input[2]"),
    ],
)
def test_a_value_of_another_type_is_named(body: bytes, place: str, param: str | None) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.json.decode(body, type=_Body)
    error = not_decodable(raised.value, place)
    assert (error.status, error.param) == (400, param)
    assert "at `$" not in error.message


def test_what_is_no_json_is_told_apart() -> None:
    with pytest.raises(msgspec.DecodeError) as raised:
        msgspec.json.decode(b"{", type=_Body)
    assert not_decodable(raised.value).code == "invalid_json"


def test_every_failure_of_an_agent_has_a_status() -> None:
    statuses = {kind: of_failure(Failure(kind, "x")).status for kind in get_args(FailureKind)}
    assert statuses == {
        "NoPermissions": 403,
        "Blocked": 429,
        "NotFound": 502,
        "AgentFailed": 502,
        "Unavailable": 503,
        "Internal": 500,
    }


@pytest.mark.limit("vscodelm.http_server.api_error.RETRY_SECONDS")
def test_a_client_reads_when_to_try_again_only_where_that_may_help() -> None:
    assert of_failure(Failure("Unavailable", "x")).retry == RETRY_SECONDS
    assert of_failure(Failure("AgentFailed", "x")).retry == 0
    assert bad_request("x", None).retry == 0

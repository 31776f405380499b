from __future__ import annotations

import pytest

from agents.open_responses.http.errors import EndpointError
from agents.open_responses.http.headers import headers_for, secrets_in
from bridge.wire import OpenResponsesSpec

SPEC = OpenResponsesSpec("http://x/v1", "m", api_key_env="KEY", headers={"X-Team": "blue"})


def test_the_key_is_read_from_the_variable_that_is_named() -> None:
    headers = headers_for(SPEC, {"KEY": " abc\n", "OTHER": "x"})
    assert headers["authorization"] == "Bearer abc"
    assert headers["x-team"] == "blue"
    assert headers["accept-encoding"] == "identity"


def test_headers_of_the_definition_win() -> None:
    spec = OpenResponsesSpec("http://x", "m", headers={"Authorization": "Basic x", "accept": "y"})
    headers = headers_for(spec, {})
    assert headers["authorization"] == "Basic x"
    assert headers["accept"] == "y"


@pytest.mark.parametrize("environment", [{}, {"KEY": ""}, {"KEY": " \n"}])
def test_a_key_that_is_not_there_is_asked_for_by_its_name(environment: dict[str, str]) -> None:
    with pytest.raises(EndpointError, match="KEY isn't set") as caught:
        headers_for(SPEC, environment)
    assert caught.value.failure.kind == "NoPermissions"
    assert not caught.value.can_retry


def test_what_is_secret_in_headers() -> None:
    assert secrets_in(headers_for(SPEC, {"KEY": "abc"})) == ["Bearer abc", "blue", "abc"]

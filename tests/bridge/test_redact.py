"""Secrets don't reach traces; everything else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from bridge.redact import HIDDEN, redact
from tests.strategies import json_values


@pytest.mark.parametrize(
    "key",
    [
        "apiKey",
        "api_key",
        "API-KEY",
        "OPENAI_API_KEY",
        "token",
        "accessToken",
        "secret",
        "clientSecret",
        "password",
        "passwd",
        "Authorization",
        "credentials",
        "Set-Cookie",
    ],
)
def test_a_string_under_a_key_that_names_a_secret_is_hidden(key: str) -> None:
    assert redact({"a": [{key: "s3cret"}]}) == {"a": [{key: HIDDEN}]}


@pytest.mark.parametrize(
    "value",
    [
        {"maxInputTokens": 5, "tokens": "many", "keyboard": "qwerty"},
        {"token": 5},
        {"apiKeyEnv": "OPENAI_API_KEY"},
        [1, "token", None, True, {"text": "my password is hunter2"}],
    ],
)
def test_what_is_no_secret_stays(value: Any) -> None:
    """A number is no key, the name of a variable isn't its value, and prompts are not searched."""
    assert redact(value) == value


def test_every_value_of_an_environment_is_hidden_in_either_shape() -> None:
    assert redact({"env": [{"name": "HOME", "value": "/home/x"}]}) == {
        "env": [{"name": "HOME", "value": HIDDEN}]
    }
    assert redact({"env": {"HOME": "/home/x", "N": 1}}) == {"env": {"HOME": HIDDEN, "N": HIDDEN}}


def test_an_environment_of_another_shape_is_still_searched() -> None:
    assert redact({"env": [{"name": "x", "token": "t"}, "A=b", 5]}) == {
        "env": [{"name": "x", "token": HIDDEN}, "A=b", 5]
    }
    assert redact({"env": "production"}) == {"env": "production"}


def test_every_header_is_hidden() -> None:
    assert redact({"headers": {"X-Anything": "v", "n": [1]}}) == {
        "headers": {"X-Anything": HIDDEN, "n": HIDDEN}
    }
    assert redact({"headers": [{"cookie": "c"}]}) == {"headers": [{"cookie": HIDDEN}]}


def test_secrets_inside_a_secret_object_are_found() -> None:
    assert redact({"credentials": {"user": "u", "password": "p"}}) == {
        "credentials": {"user": "u", "password": HIDDEN}
    }


@given(json_values)
def test_redacting_twice_is_redacting_once_and_changes_nothing_in_place(value: Any) -> None:
    before = repr(value)
    once = redact({"env": value, "headers": value, "token": value, "x": value})
    assert redact(once) == once
    assert repr(value) == before


def test_headers_are_hidden_as_a_list_too() -> None:
    """So they are written where an agent is told of a server."""
    assert redact({"headers": [{"name": "Authorization", "value": "Bearer x"}]}) == {
        "headers": [{"name": "Authorization", "value": HIDDEN}]
    }


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ada:pw@host/v1", f"https://{HIDDEN}@host/v1"),
        ("https://host/v1?api-key=k&x=1#top", f"https://host/v1?{HIDDEN}#top"),
        ("https://host:8080/v1/@me", "https://host:8080/v1/@me"),
        ("file:///a%20b", "file:///a%20b"),
    ],
)
@pytest.mark.parametrize("key", ["baseUrl", "url", "uri"])
def test_an_address_is_shown_without_what_may_be_secret_in_it(
    address: str, shown: str, key: str
) -> None:
    assert redact({key: address}) == {key: shown}
    assert redact(redact({key: address})) == {key: shown}

"""Secrets don't reach traces; everything else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from bridge.redact import HIDDEN, map_strings, redact, redact_text
from tests.growth import assert_linear
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


def test_texts_that_are_called_secrets_are_hidden() -> None:
    assert redact({"secrets": ["a", 5], "x": "a"}) == {"secrets": [HIDDEN, HIDDEN], "x": "a"}


def test_of_mcp_servers_only_names_types_and_programs_are_shown() -> None:
    files = {"name": "files", "command": "/bin/files", "args": ["plain", 5], "env": []}
    wiki = {"name": "wiki", "type": "http", "url": "https://wiki.example/mcp"}
    assert redact({"mcpServers": [files, wiki, {"args": "x"}, "y"]}) == {
        "mcpServers": [
            {**files, "args": [HIDDEN, HIDDEN]},
            {**wiki, "url": HIDDEN},
            {"args": HIDDEN},
            HIDDEN,
        ]
    }
    assert redact({"mcpServers": "x", "args": ["plain"]}) == {"mcpServers": "x", "args": ["plain"]}


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


@pytest.mark.parametrize("key", ["args", "argv", "arguments", "command"])
def test_secret_arguments_are_hidden(key: str) -> None:
    given = ["serve", "--api-key=k1", "--token", "k2", "--auth", "--model", "big", "-e", "A_KEY=v"]
    given += ["--password", 5, "x", "KEY_TOKEN=k3", "https://ada:pw@host/v1?api_key=k4", "--key"]
    shown = ["serve", f"--api-key={HIDDEN}", "--token", HIDDEN, "--auth", "--model", "big", "-e"]
    shown += ["A_KEY=v", "--password", 5, "x", f"KEY_TOKEN={HIDDEN}"]
    shown += [f"https://{HIDDEN}@host/v1?api_key={HIDDEN}", "--key"]
    assert redact({key: given}) == {key: shown}
    assert redact({key: "--token k"}) == {key: "--token k"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://ada:pw@host/v1 failed", f"GET https://{HIDDEN}@host/v1 failed"),
        ("https://host/v1?api_key=k&x=1", f"https://host/v1?api_key={HIDDEN}&x=1"),
        ("https://host/v1?x=1&key=k#top", f"https://host/v1?x=1&key={HIDDEN}#top"),
        ("run with --api-key=k --model m", f"run with --api-key={HIDDEN} --model m"),
        ("run with --token k -v", f"run with --token {HIDDEN} -v"),
        ("['x', '--token', 'k', '-v']", f"['x', '--token', '{HIDDEN}', '-v']"),
        ("Authorization: Bearer abc.def", f"Authorization: {HIDDEN}"),
        ('{"apiKey": "k", "n": 1}', f'{{"apiKey": "{HIDDEN}", "n": 1}}'),
        ("OPENAI_API_KEY=k npx x", f"OPENAI_API_KEY={HIDDEN} npx x"),
        ("Incorrect key sk-abcdefghijklmnop.", f"Incorrect key {HIDDEN}."),
    ],
)
def test_what_looks_like_a_secret_is_hidden_in_text(text: str, shown: str) -> None:
    assert redact_text(text) == shown
    assert redact_text(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "session=1 turn=2 tokens=500 max_tokens=5",
        "Set the environment variable OPENAI_API_KEY, which holds the key.",
        "see https://host/login?code=AB-12 and me@host",
        "--model big --verbose",
        "what? yes: no",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("nested", [5_000])
def test_what_is_nested_deeply_is_redacted_too(nested: int) -> None:
    value: Any = {"token": "hunter2"}
    for _ in range(nested):
        value = {"inner": [value]}
    shown = redact(value)
    for _ in range(nested):
        shown = shown["inner"][0]
    assert shown == {"token": HIDDEN}


def test_other_strings_are_hidden_by_what_is_known() -> None:
    def hide(text: str) -> str:
        return text.replace("hunter2", HIDDEN)

    value = {"a hunter2": ["hunter2", 5, {"url": "http://x/hunter2"}], "env": {"hunter2": 1}}
    assert redact(value, hide) == {
        f"a {HIDDEN}": [HIDDEN, 5, {"url": f"http://x/{HIDDEN}"}],
        "env": {HIDDEN: HIDDEN},
    }
    assert map_strings(value, hide) == {
        f"a {HIDDEN}": [HIDDEN, 5, {"url": f"http://x/{HIDDEN}"}],
        "env": {HIDDEN: 1},
    }
    assert map_strings("hunter2", hide) == HIDDEN


@pytest.mark.parametrize(
    "piece",
    ["://a", "--a-", "--token ", "a-", "api_key", "token :", "a ", "Bearer ", "sk-", "?key=", "'"],
)
def test_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert_linear(lambda size: piece * (size // len(piece)), redact_text, 20_000)

"""The secrets of definitions are hidden wherever they occur."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.known_secrets import (
    MOST,
    SHORTEST,
    SHORTEST_NAMED,
    SHORTEST_VALUE,
    KnownSecrets,
    Occurrences,
    secrets_in,
)
from bridge.redact import HIDDEN
from tests.growth import assert_linear

JSON = dict[str, Any]


def found(definition: Any, **environment: str) -> set[str]:
    return set(secrets_in(definition, environment))


def known(definition: JSON, **environment: str) -> KnownSecrets:
    secrets = KnownSecrets()
    secrets.learn(definition, environment)
    return secrets


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"env": [{"name": "DATABASE", "value": "hunter22"}]}, {"hunter22"}),
        ({"env": {"DATABASE": "hunter22"}}, {"hunter22"}),
        ({"env": [{"name": "API_KEY", "value": "hunter"}]}, {"hunter"}),
        ({"headers": {"X-Anything": "hunter22"}}, {"hunter22"}),
        ({"headers": {"Authorization": "Bearer hunter2"}}, {"Bearer hunter2", "hunter2"}),
        ({"apiKey": "hunter2"}, {"hunter2"}),
        ({"deep": [{"er": {"password": "hunter2"}}]}, {"hunter2"}),
        ({"apiKeyEnv": "MY_KEY"}, {"from-outside"}),
        ({"args": ["--api-key=hunter2", "--model=bigger"]}, {"hunter2"}),
        ({"args": ["--token", "hunter2", "--model", "bigger"]}, {"hunter2"}),
        ({"args": ["-e", "MY_TOKEN=hunter2"]}, {"hunter2"}),
        ({"args": ["--to", "https://ada:hunter2@host/"]}, {"ada:hunter2", "hunter2"}),
        ({"baseUrl": "https://host/v1?api_key=hunter2&api-version=2026-01-01"}, {"hunter2"}),
        ({"baseUrl": "https://ada:hun%20ter2@host/"}, {"ada:hun%20ter2", "hun%20ter2", "hun ter2"}),
    ],
)
def test_what_a_definition_brings_as_a_secret_is_found(fields: JSON, expected: set[str]) -> None:
    definition = {"some_kind": {"name": "x", **fields}}
    assert found(definition, MY_KEY=" from-outside\n") - {"ada:hun ter2"} == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"env": [{"name": "LEVEL", "value": "warning"}]},
        {"env": [{"name": "API_KEY", "value": "x"}]},
        {"env": [{"name": "HOME", "value": "/home/somebody"}]},
        {"env": [{"name": "DIR", "value": "C:\\Users\\somebody"}]},
        {"env": [{"name": "BASE", "value": "https://host/version/1"}]},
        {"env": [{"name": 5, "value": "hunter22"}, "hunter22", {"name": "x"}]},
        {"env": "production"},
        {"env": {"API_KEY": "${secret:some name}"}},
        {"headers": {"Accept": "application/json", "User-Agent": "somebody", "n": 5}},
        {"args": ["--max-tokens", "1000000", "--token-file=", "serve", 5, "--verbose"]},
        {"args": "serve"},
        {"baseUrl": "https://host:8080/v1?api-version=2026-01-01"},
        {"baseUrl": "http://[broken?api_key=hunter2"},
        {"apiKeyEnv": "NOT_SET", "maxTokens": 5, "prompt": "my password is hunter2"},
    ],
)
def test_what_is_no_secret_is_not(fields: JSON) -> None:
    assert found({"some_kind": fields}) == set()


def test_known_secrets_are_hidden_wherever_they_occur() -> None:
    secrets = known({"env": {"KEY": "hunter22", "BOTH": "hunter22-and-more"}})
    text = "a hunter22, a hunter22-and-more and hunter2"
    assert secrets.hide(text) == f"a {HIDDEN}, a {HIDDEN} and hunter2"
    assert secrets.hide_all("hunter22 --token unknown") == f"{HIDDEN} --token {HIDDEN}"
    assert KnownSecrets().hide(text) == text


def test_a_secret_is_hidden_in_every_form_that_it_takes() -> None:
    value = 'with \\ and " and é and \n'
    secrets = known({"env": {"KEY": value}})
    for form in (value, repr(value), json.dumps(value), f"http://host/{quote(value, safe='')}"):
        assert "and" not in secrets.hide(form)


def test_the_keys_that_the_editor_keeps_are_hidden() -> None:
    secrets = KnownSecrets()
    secrets.learn_kept({})
    secrets.learn_kept({"VSCODELM_SECRETS": "A,,B,C", "A": "first key", "B": "x", "D": "no key"})
    assert secrets.hide("first key, x, no key") == f"{HIDDEN}, x, no key"


def test_values_that_are_words_are_not_hidden() -> None:
    one = known({"env": {"KEY": "a" * (SHORTEST - 1), "A_TOKEN": "b" * (SHORTEST_NAMED - 1)}})
    assert one.hide("a" * 99 + "b" * 99) == "a" * 99 + "b" * 99


@pytest.mark.limit("bridge.known_secrets.MOST")
def test_the_oldest_secrets_are_forgotten_first() -> None:
    secrets = known({"env": {"FIRST": "the-first-one"}})
    secrets.learn({"env": {f"N{n}": f"number-{n:05}" for n in range(MOST - 1)}}, {})
    assert secrets.hide("the-first-one") == HIDDEN
    secrets.learn({"env": {"LAST": "the-last-one"}}, {})
    assert secrets.hide("the-first-one, the-last-one") == f"the-first-one, {HIDDEN}"


def test_a_definition_is_learned_once_and_again_when_it_was_forgotten() -> None:
    secrets = KnownSecrets()
    definition = json.dumps({"a": {"apiKeyEnv": "K"}}).encode()
    secrets.learn_once(definition, {"K": "first value"})
    secrets.learn_once(definition, {"K": "other value"})
    assert secrets.hide("first value, other value") == f"{HIDDEN}, other value"
    for number in range(MOST):
        secrets.learn_once(str(number).encode(), {})
    secrets.learn_once(definition, {"K": "other value"})
    assert secrets.hide("other value") == HIDDEN


def test_a_definition_that_could_not_be_read_is_learned_the_next_time() -> None:
    secrets = KnownSecrets()
    for _ in range(2):
        with pytest.raises(msgspec.DecodeError):
            secrets.learn_once(b"{", {})


def test_many_secrets_are_hidden_in_time_that_grows_with_the_text_alone() -> None:
    def made(count: int) -> KnownSecrets:
        return known({"env": {f"N{n}": f"number-{n:05}" for n in range(count)}})

    text = "number-00007 and number-none, " * 400
    assert made(MOST).hide(text) == made(8).hide(text) == text.replace("number-00007", HIDDEN)
    assert_linear(made, lambda secrets: secrets.hide(text), MOST // 4)


def test_the_definition_in_a_request_is_learned() -> None:
    secrets = KnownSecrets()
    for message in (5, {}, {"params": 5}, {"params": {"agent": {"a": {"apiKey": "hunter22"}}}}):
        secrets.learn_from(message, {})
    assert secrets.hide("hunter22") == HIDDEN


def test_the_secrets_of_mcp_servers_are_learned() -> None:
    secrets = KnownSecrets()
    servers = [
        5,
        {"env": [{"name": "KEY", "value": "of-variable"}], "secrets": ["an answer", 5, "short"]},
        {"headers": [{"name": "Authorization", "value": "Bearer of-header"}], "secrets": 5},
    ]
    secrets.learn_from({"params": {"mcpServers": servers}}, {})
    hidden = secrets.hide("of-variable, of-header, an answer, short")
    assert hidden == f"{HIDDEN}, {HIDDEN}, {HIDDEN}, short"


@pytest.mark.parametrize(
    ("server", "text", "shown"),
    [
        ({"args": ["correct horse"]}, "got correct horse", f"got {HIDDEN}"),
        ({"args": ["--as=hunter2hunter2"]}, "as hunter2hunter2", f"as {HIDDEN}"),
        ({"args": ["-phunter2hunter2"]}, "-phunter2hunter2", HIDDEN),
        ({"args": ["--header", "X: Bearer hunter2h"]}, "Bearer hunter2h", f"Bearer {HIDDEN}"),
        ({"args": ["--verbose", "/home/me/app"]}, "--verbose /home/me/app", None),
        ({"args": ["https://h/s/hunter2h/mcp"]}, "of hunter2h", f"of {HIDDEN}"),
        ({"args": ["--to=https://h/s?x=hunter2h"]}, "of hunter2h", f"of {HIDDEN}"),
        ({"args": "hunter2hunter2", "url": 5}, "hunter2hunter2", None),
        ({"args": [5, None]}, "5", None),
        ({"url": "https://far.example/s/hunter2h/mcp"}, "of hunter2h", f"of {HIDDEN}"),
        ({"url": "https://h.net/s/hunter2h"}, "to h.net/s/hunter2h", f"to h.net{HIDDEN}"),
        ({"url": "https://far.example/messages"}, "messages at far.example", None),
    ],
)
def test_arguments_and_addresses_of_mcp_servers_are_learned(
    server: Any, text: str, shown: str | None
) -> None:
    secrets = KnownSecrets()
    secrets.learn_from({"params": {"mcpServers": [server]}}, {})
    assert secrets.hide(text) == (shown or text)


def test_a_definition_may_be_nested_deeply() -> None:
    definition: Any = {"token": "hunter2"}
    for _ in range(5_000):
        definition = {"inner": [definition]}
    assert found(definition) == {"hunter2"}


@pytest.mark.parametrize("half", [0xDCFF, 0xD83D])
def test_a_secret_may_be_no_text(half: int) -> None:
    """Python keeps the bytes of a variable that are no UTF-8 as halves of characters."""
    secrets, secret = KnownSecrets(), f"hunter2{chr(half)}"
    secrets.learn_kept({"VSCODELM_SECRETS": "A", "A": secret})
    assert secrets.hide(f"{secret}, {secret!r}") == f"{HIDDEN}, '{HIDDEN}'"


# Many values at once.

VALUES = st.sets(st.text("ab", min_size=SHORTEST_VALUE, max_size=9), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("values", "text", "shown"),
    [
        ([], "hunter2", "hunter2"),
        (["hunter2"], "", ""),
        (["hunter2"], "hunter", "hunter"),
        (["hunter2"], "hunter2", "#"),
        (["hunter2"], "a hunter2, a hunter2hunter2!", "a #, a ##!"),
        (["hunter2", "hunter2-and-more"], "hunter2-and-more, hunter2-and-", "#, #-and-"),
        (["hunter2", "2-and-more"], "a hunter2-and-more", "a #"),
        (["hunter2", "hunter3"], "hunter1", "hunter1"),
        (["x" * 90 + "1", "x" * 90 + "12", "x" * 90], "x" * 90 + "123", "#3"),
        (["x" * 90 + "1", "x" * 70], "x" * 80, "#"),
        (["x" * 90 + "1"], "x" * 91, "x" * 91),
    ],
)
def test_values_are_replaced(values: list[str], text: str, shown: str) -> None:
    assert Occurrences(values).replace(text, "#") == shown


@given(VALUES, st.text("ab", max_size=60))
def test_just_the_characters_of_values_are_replaced(values: set[str], text: str) -> None:
    covered = {
        place
        for value in values
        for start in range(len(text))
        if text.startswith(value, start)
        for place in range(start, start + len(value))
    }
    left = "".join(one for place, one in enumerate(text) if place not in covered)
    assert Occurrences(values).replace(text, "#").replace("#", "") == left


@pytest.mark.parametrize("piece", ["sk-shared-", "number-00001 ", "other words ", "s"])
def test_the_time_grows_with_the_text(piece: str) -> None:
    found = Occurrences([f"sk-shared-number-{n:05}" for n in range(1_000)])
    assert_linear(lambda size: piece * (size // len(piece)), lambda t: found.replace(t, "#"), 5_000)


def test_the_time_does_not_grow_with_the_number_of_values() -> None:
    text = "sk-shared-number-00000 sk-shared-" * 200

    def made(count: int) -> Occurrences:
        return Occurrences([f"sk-shared-number-{n:05}" for n in range(count)])

    assert_linear(made, lambda found: found.replace(text, "#"), 500)

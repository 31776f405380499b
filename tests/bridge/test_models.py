"""The models that can be picked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from bridge.depth import DEEPEST_JSON
from bridge.models import (
    DEFAULT_INPUT_TOKENS,
    DEFAULT_OUTPUT_TOKENS,
    ELIZA,
    AgentChoice,
    Catalogue,
    ConfigError,
    ListedModel,
    parse_catalogue,
    parse_json_catalogue,
    with_endpoints,
)
from bridge.wire import ModelCapabilities, Settings

CLAUDE = """
[[models]]
id = "claude"
agent = { acp = { name = "claude", command = "claude-agent-acp" } }
"""

# Who answers.


def key(definition: dict[str, Any]) -> bytes:
    return AgentChoice.of(definition).key


def test_an_agent_is_the_same_whatever_the_order_of_its_keys() -> None:
    assert key({"acp": {"name": "a", "command": "b"}}) == key(
        {"acp": {"command": "b", "name": "a"}}
    )


def test_acp_is_another_name_for_mcp_server() -> None:
    server = {"name": "a", "command": "b"}
    assert key({"acp": server}) == key({"mcp_server": server})
    assert AgentChoice.of({"acp": server}).spec.acp is not UNSET


@pytest.mark.parametrize(
    "other",
    [
        {"acp": {"name": "a", "command": "other"}},
        {"acp": {"name": "a", "command": "b", "args": ["-x"]}},
        {"acp": {"name": "a", "command": "b", "env": [{"name": "N", "value": "V"}]}},
        {"eliza": {}},
    ],
)
def test_agents_that_are_defined_differently_are_different(other: dict[str, Any]) -> None:
    assert key({"acp": {"name": "a", "command": "b"}}) != key(other)


def test_options_of_an_endpoint_that_we_do_not_know_belong_to_its_identity() -> None:
    endpoint = {"baseUrl": "http://x", "model": "m"}
    assert key({"open_responses": endpoint}) != key({"open_responses": {**endpoint, "store": True}})


def test_what_is_beside_the_definition_does_not_belong_to_it() -> None:
    assert key({"eliza": {}, "comment": "mine"}) == key({"eliza": {}})


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="exactly one"):
        AgentChoice.of({"robot": {}})


def test_the_built_in_eliza_is_the_one_that_a_request_may_define() -> None:
    assert ELIZA.agent.key == key({"eliza": {}})
    assert ELIZA.agent.spec == AgentChoice.of({"eliza": {}}).spec


# The catalogue.


def test_without_a_file_there_is_eliza() -> None:
    catalogue = Catalogue()
    assert catalogue.find("eliza") is ELIZA
    assert catalogue.find("claude") is None
    assert parse_catalogue("") == catalogue


def test_a_model_of_the_file_stands_after_eliza_and_has_defaults() -> None:
    catalogue = parse_catalogue(CLAUDE)
    assert [model.information.id for model in catalogue.models] == ["eliza", "claude"]
    model = catalogue.find("claude")
    assert model is not None
    information = model.information
    assert (information.name, information.family, information.version) == ("claude", "claude", "1")
    assert information.max_input_tokens == DEFAULT_INPUT_TOKENS
    assert information.max_output_tokens == DEFAULT_OUTPUT_TOKENS
    assert (information.tooltip, information.detail) == (UNSET, UNSET)
    assert information.capabilities.tool_calling
    assert not information.capabilities.image_input
    assert model.settings == Settings()
    assert model.agent.key == key({"acp": {"name": "claude", "command": "claude-agent-acp"}})


def test_everything_about_a_model_can_be_set() -> None:
    catalogue = parse_catalogue(
        CLAUDE
        + """
name = "Claude Code"
family = "claude-4"
version = "4.5"
settings = { permissions = "allow", idleSeconds = 60, tools = { include = ["read_*"] } }
maxInputTokens = 1000
maxOutputTokens = 100
tooltip = "T"
detail = "D"
toolCalling = false
imageInput = true
"""
    )
    model = catalogue.find("claude")
    assert model is not None
    information = model.information
    assert (information.name, information.family) == ("Claude Code", "claude-4")
    assert (information.version, information.tooltip, information.detail) == ("4.5", "T", "D")
    assert (information.max_input_tokens, information.max_output_tokens) == (1000, 100)
    assert not information.capabilities.tool_calling
    assert information.capabilities.image_input
    assert (model.settings.permissions, model.settings.idle_seconds) == ("allow", 60)
    assert model.settings.tools.include == ("read_*",)


def test_the_file_may_define_eliza_itself() -> None:
    catalogue = parse_catalogue(
        '[[models]]\nid = "eliza"\nname = "Mine"\nagent = { eliza = { deterministic = true } }'
    )
    (eliza,) = catalogue.models
    assert eliza.information.name == "Mine"
    assert eliza.agent.key != ELIZA.agent.key


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("a = =", "line 1"),
        ("[[model]]\nid = 1", "model"),
        ("[[models]]\nagent = {}", r"`id` - at `\$.models\[0\]`"),
        ('[[models]]\nid = "a"', r"`agent` - at `\$.models\[0\]`"),
        (CLAUDE + "colour = 1", r"`colour` - at `\$.models\[0\]`"),
        (CLAUDE + 'settings = { permissions = "x" }', r"\$.models\[0\].settings.permissions"),
        (CLAUDE + CLAUDE, r"'claude' is given twice - at `\$.models\[1\].id`"),
        (
            CLAUDE + '[[models]]\nid = "b"\nagent = { robot = {} }',
            r"exactly one of .* - in `\$.models\[1\].agent`",
        ),
        (
            '[[models]]\nid = "b"\nagent = { acp = { name = "x" } }',
            r"`command` - at `\$.acp` - in `\$.models\[0\].agent`",
        ),
    ],
)
def test_a_fault_in_the_file_is_told_with_its_place(toml: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        parse_catalogue(toml)


@given(st.text(max_size=30))
def test_no_file_whatever_breaks_the_parser(toml: str) -> None:
    try:
        parse_catalogue(toml)
    except ConfigError as refused:
        assert str(refused)  # noqa: PT017  either is fine


# Endpoints that list their models.

ENDPOINT = """
[[models]]
id = "local/named"
agent = { eliza = {} }

[[endpoints]]
id = "local"
open_responses = { baseUrl = "http://x/v1" }
include = ["n*", "s*"]
exclude = ["secret"]
maxInputTokens = 1000
imageInput = true
settings = { permissions = "deny" }
"""


def test_what_an_endpoint_lists_can_be_picked() -> None:
    catalogue = parse_catalogue(ENDPOINT)
    (listing,) = catalogue.listings
    listed = [ListedModel(name) for name in ("named", "small", "secret", "other")]
    listed.append(ListedModel("new", "New", 5, 6, tool_calling=False, image_input=False))
    found = catalogue.with_listed(listing, listed)
    assert [m.information.id for m in found.models] == [
        "eliza",
        "local/named",
        "local/small",
        "local/new",
    ]
    small, new = found.models[-2:]
    assert small.agent == AgentChoice.of(
        {"open_responses": {"baseUrl": "http://x/v1", "model": "small"}}
    )
    assert small.settings.permissions == "deny"
    assert (small.information.name, small.information.max_input_tokens) == ("small", 1000)
    assert small.information.max_output_tokens == DEFAULT_OUTPUT_TOKENS
    assert small.information.capabilities == ModelCapabilities(True, True)
    assert (new.information.name, new.information.max_input_tokens) == ("New", 5)
    assert new.information.capabilities == ModelCapabilities(False, False)
    assert found.with_listed(listing, []).models == catalogue.models


def test_a_wrong_endpoint_is_an_error_that_says_where() -> None:
    with pytest.raises(ConfigError, match=r"baseUrl.*endpoints\[0\]"):
        parse_catalogue('[[endpoints]]\nid = "x"\nopen_responses = { baseUrl = "x" }')
    twice = '[[endpoints]]\nid = "x"\nopen_responses = { baseUrl = "http://x" }\n' * 2
    with pytest.raises(ConfigError, match=r"given twice - at `\$.endpoints\[1\].id`"):
        parse_catalogue(twice)


@pytest.mark.parametrize("levels", [DEEPEST_JSON, 600, 5000])
def test_a_definition_that_is_nested_too_deeply_is_none(levels: int) -> None:
    odd: Any = 1
    for _ in range(levels):
        odd = {"a": odd}
    endpoint = {"baseUrl": "http://x", "model": "m"}
    for further in ({"odd": odd}, {"reasoning": odd}):
        with pytest.raises(msgspec.ValidationError, match="nested more than"):
            AgentChoice.of({"open_responses": {**endpoint, **further}})


def test_a_definition_with_half_a_character_is_none() -> None:
    with pytest.raises(msgspec.ValidationError, match="an incomplete character"):
        AgentChoice.of({"acp": {"name": "x", "command": "\ud83d"}})


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (f'[[models]]\nid = "a"\nagent = {"{a=" * 5000}1{"}" * 5000}', "line 3: .* too deeply"),
        (f"a = 1\nb = {'[' * 5000}{']' * 5000}\nc = [[1]]", "line 2: .* too deeply"),
        (f"a = {'1' * 5000}", "4300 digits"),
    ],
    ids=["definition", "list", "number"],
)
def test_a_file_that_python_can_t_read_is_an_error_like_any_other(toml: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_catalogue(toml)


OF_SETTINGS = '{"open_responses": {"baseUrl": "http://127.0.0.1:1/v1"}, "include": ["a*"]}'


def test_a_file_in_json_has_the_same_keys() -> None:
    text = '{"models": [{"id": "one", "agent": {"eliza": {}}, "settings": {"model": null}}]}'
    assert [model.information.id for model in parse_json_catalogue(text).models] == [
        "eliza",
        "one",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "truncated"),
        ('{"models": 1}', r"\$.models"),
        ('{"models": [{"id": "a", "agent": {}}]}', r"in `\$.models\[0\].agent`"),
        (
            '{"models": [{"id": "a", "agent": {"a": ' + "[" * 99_999 + "]" * 99_999 + "}}]}",
            "nested more than",
        ),
    ],
)
def test_a_fault_of_a_file_in_json_is_told(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        parse_json_catalogue(text)


def test_endpoints_of_the_editor_s_settings_are_asked_for_their_models() -> None:
    before = parse_catalogue(
        '[[endpoints]]\nid = "mine"\nopen_responses = { baseUrl = "http://127.0.0.1:2/v1" }\n'
        '[[endpoints]]\nid = "gone"\nopen_responses = { baseUrl = "http://127.0.0.1:3/v1" }\n'
    )
    after, faults = with_endpoints(
        before, f'{{"mine": {OF_SETTINGS}, "new": {OF_SETTINGS}, "gone": null}}'
    )
    assert faults == []
    assert [listing.id for listing in after.listings] == ["mine", "new"]
    assert after.listings[0].definition == {"baseUrl": "http://127.0.0.1:1/v1"}
    assert after.listings[0].include == ("a*",)
    assert after.models == before.models


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "aren't an object of endpoints"),
        ("{", "aren't an object of endpoints"),
        ('{"a": 1}', "aren't an object of endpoints"),
        ("[" * 100_000, "aren't an object of endpoints"),
        ('{"a": {}}', "the endpoint 'a': Object missing required field `open_responses`"),
        ('{"a": {"open_responses": {"baseUrl": 1}}}', "the endpoint 'a': Expected `str`"),
        ('{"a": {"open_responses": {}, "other": 1}}', "the endpoint 'a': Object contains unknown"),
    ],
)
def test_a_wrong_endpoint_of_the_settings_costs_only_itself(text: str, told: str) -> None:
    catalogue, (fault,) = with_endpoints(Catalogue(), text)
    assert told in fault
    assert catalogue == Catalogue()


def test_an_endpoint_beside_a_wrong_one_counts() -> None:
    catalogue, faults = with_endpoints(Catalogue(), f'{{"bad": {{}}, "good": {OF_SETTINGS}}}')
    assert [listing.id for listing in catalogue.listings] == ["good"]
    assert len(faults) == 1

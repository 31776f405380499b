"""Definitions as people write them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agents.acp.launch.completed import completed
from agents.acp.launch.ready_agents import ready_agent, ready_agents
from bridge.models import AgentChoice
from bridge.wire import EnvVariable, McpServerSpec


def server(definition: Any, model_id: str = "mine") -> McpServerSpec:
    spec = AgentChoice.of(completed(definition, model_id)).spec.definition
    assert isinstance(spec, McpServerSpec)
    return spec


def variables(**values: str) -> tuple[EnvVariable, ...]:
    return tuple(EnvVariable(name, value) for name, value in values.items())


@pytest.mark.parametrize("agent", ready_agents(), ids=lambda agent: agent.id)
def test_each_ready_agent_is_its_package_in_the_version_that_was_tested(agent: Any) -> None:
    spec = server({"registry": agent.id})
    assert (spec.name, spec.command) == (agent.name, "npx")
    assert spec.args == ("-y", agent.requirement, *agent.arguments)
    assert spec.env == variables(**{name: f"${{secret:{name}}}" for name in agent.secrets})


def test_a_former_id_means_the_same_agent() -> None:
    assert server({"registry": "claude-code-acp"}) == server({"registry": "claude-acp"})


@pytest.mark.parametrize("env", [{"A": "1"}, [{"name": "A", "value": "1"}]])
def test_arguments_and_variables_are_added_to_a_ready_agent(env: Any) -> None:
    agent = ready_agent("gemini")
    assert agent is not None
    spec = server({"registry": "gemini", "args": ["--debug"], "env": env})
    assert spec.args == ("-y", agent.requirement, "--acp", "--debug")
    keys = {name: f"${{secret:{name}}}" for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY")}
    assert spec.env == variables(**keys, A="1")


def test_a_ready_agent_with_a_key_of_its_own_is_given_no_other_key() -> None:
    env = {"GOOGLE_API_KEY": "${secret:MINE}"}
    assert server({"registry": "gemini", "env": env}).env == variables(**env)


@pytest.mark.parametrize("kind", ["acp", "mcp_server"])
def test_a_command_may_leave_out_its_name_and_have_an_object_of_variables(kind: str) -> None:
    spec = server({kind: {"command": "x", "env": {"A": "1", "B": "2"}}})
    assert spec == McpServerSpec("mine", "x", env=variables(A="1", B="2"))


def test_everything_else_stays_as_it_is() -> None:
    listed = {"acp": {"name": "a", "command": "x", "env": [{"name": "A", "value": "1"}]}}
    endpoint = {"open_responses": {"baseUrl": "http://a/", "model": "m", "env": {"x": 1}}}
    given: list[Any] = [listed, endpoint, {"eliza": {}}, {"acp": 1}, {}, [], 1, None]
    for definition in given:
        assert completed(definition, "mine") == definition


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ({"registry": "nobody"}, r"'nobody'. The ready agents are: claude-acp, .*`\$.registry`"),
        ({"registry": 1}, r"Expected `str`, got `int` - at `\$.registry`"),
        ({"registry": "gemini", "args": "x"}, r"at `\$.args`"),
        ({"registry": "gemini", "args": [1]}, r"at `\$.args\[0\]`"),
        ({"registry": "gemini", "env": {"A": 1}}, r"at `\$.env\[...\]`"),
        ({"registry": "gemini", "eliza": {}}, "`registry` and `eliza` are both given"),
        ({"acp": {"command": "x", "env": {"A": 1}}}, r"at `\$.acp.env\[0\].value`"),
        ({"acp": {}}, r"`command` - at `\$.acp`"),
        ({"acp": 1}, r"Expected `object`, got `int` - at `\$.acp`"),
        ({"robot": {}}, "exactly one of"),
        (1, "Expected `object`"),
    ],
)
def test_a_fault_names_its_field(definition: Any, told: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        server(definition)

"""Complete the definitions that people write: they may name a ready agent, and leave things out."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from bridge.wire import AgentSpec, ReadyAgentSpec

from .ready_agents import ready_agent, ready_agents

_COMMANDS = ("acp", "mcp_server")


def completed(definition: Any, model_id: str) -> Any:
    """Return a definition as `AgentSpec` has it; raises `msgspec.ValidationError`.

    A ready agent becomes its command, and an object of variables becomes a list. An agent without a
    name has the id of its model. Everything else stays as it is: `AgentSpec` says what is wrong.
    """
    if not isinstance(definition, dict):
        return definition
    given = cast("dict[str, Any]", definition)
    if "registry" in given:
        return {"acp": _ready(given)}
    return {
        kind: _command(value, model_id) if kind in _COMMANDS else value
        for kind, value in given.items()
    }


def _command(server: Any, model_id: str) -> Any:
    if not isinstance(server, dict):
        return server
    given = cast("dict[str, Any]", server)
    env = given.get("env")
    variables = {"env": _listed(cast("dict[str, Any]", env))} if isinstance(env, dict) else {}
    return {"name": model_id, **given, **variables}


def _ready(definition: dict[str, Any]) -> dict[str, Any]:
    for kind in AgentSpec.__struct_fields__:
        if kind in definition:
            raise msgspec.ValidationError(
                f"`registry` and `{kind}` are both given; remove one of them"
            )
    spec = msgspec.convert(definition, ReadyAgentSpec)
    agent = ready_agent(spec.registry)
    if agent is None:
        ids = ", ".join(one.id for one in ready_agents())
        raise msgspec.ValidationError(
            f"there is no ready agent {spec.registry!r}. The ready agents are: {ids}. Any other "
            "agent is defined by its command, under `acp` - at `$.registry`"
        )
    given = spec.env if isinstance(spec.env, dict) else {one.name: one.value for one in spec.env}
    has_own = any(name in given for name in agent.secrets)
    usual = {} if has_own else {name: f"${{secret:{name}}}" for name in agent.secrets}
    return {
        "name": agent.name,
        "command": "npx",
        "args": ["-y", agent.requirement, *agent.arguments, *spec.args],
        "env": _listed({**usual, **given}),
    }


def _listed(variables: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in variables.items()]

"""Whom a name stands for: a model of the configuration, or an agent of the registry."""

from __future__ import annotations

import difflib
import os

from msgspec import UNSET

from agents.registry.cache import CacheError
from bridge.models import Catalogue
from bridge.value import Value
from bridge.wire import AgentSpec, ElizaSpec, McpServerSpec, OpenResponsesSpec
from vscodelm.registry import Registry, RegistryError

_LAUNCHERS = frozenset({"npx", "uvx", "bunx", "node", "python", "python3"})


class SubjectError(Exception):
    """Nobody has that name; the message says whom there is."""


class Subject(Value):
    """Who is examined; `missing` is the advice where its command isn't there.

    `mode` is the mode that its settings choose.
    """

    name: str
    agent: McpServerSpec | ElizaSpec | OpenResponsesSpec
    missing: str = ""
    mode: str | None = None


def subject_of(name: str, catalogue: Catalogue, registry: Registry) -> Subject:
    """Return who has a name; raises `SubjectError`. Nothing is fetched."""
    model = catalogue.find(name)
    if model is not None:
        return Subject(name, _definition(model.agent.spec), mode=model.settings.mode)
    try:
        agent = registry.find(name)
        launched = registry.launch(agent)
    except (RegistryError, CacheError) as error:
        raise SubjectError(f"{_no_model(name, catalogue)} {error}") from None
    missing = ""
    if launched.kind == "binary":
        missing = f"It isn't installed: `vscodelm agents install {agent.id}` does."
    return Subject(name, launched.spec, missing)


def subject_of_command(command: tuple[str, ...]) -> Subject:
    """Return the agent that a command starts."""
    program, *arguments = command
    name = _called(command)
    return Subject(name, McpServerSpec(name, program, tuple(arguments)))


def _called(command: tuple[str, ...]) -> str:
    """Return what to call an agent that a command starts: not by its launcher, if it has one."""
    program, *arguments = map(os.path.basename, command)
    words = [word for word in arguments if not word.startswith("-")]
    return words[0] if words and program in _LAUNCHERS else program


def _definition(spec: AgentSpec) -> McpServerSpec | ElizaSpec | OpenResponsesSpec:
    given = (spec.mcp_server, spec.acp, spec.eliza, spec.open_responses)
    (agent,) = (one for one in given if one is not UNSET)
    return agent


def _no_model(name: str, catalogue: Catalogue) -> str:
    ids = [model.information.id for model in catalogue.models]
    near = difflib.get_close_matches(name, ids, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no model {name!r} in the configuration.{hint}"

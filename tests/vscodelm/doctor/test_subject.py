from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bridge.models import Catalogue, parse_catalogue
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec
from tests.agents.registry.entries import BINARY, NPX, index_of
from vscodelm.doctor.subject import SubjectError, subject_of, subject_of_command
from vscodelm.registry import Registry

CATALOGUE = parse_catalogue("""
[[models]]
id = "mine"
agent = { acp = { name = "it", command = "it-acp" } }
[[models]]
id = "older"
agent = { mcp_server = { name = "it", command = "it-acp" } }
[[models]]
id = "local"
agent = { open_responses = { baseUrl = "http://127.0.0.1:1", model = "m" } }
[[models]]
id = "parrot-acp"
agent = { eliza = {} }
""")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Give a registry that has a package and a program."""
    stored = {"url": "u", "fetched_at": 1.0, "index": msgspec.Raw(index_of(NPX, BINARY))}
    (tmp_path / "registry.json").write_bytes(msgspec.json.encode(stored))
    return Registry(tmp_path, "https://example.org", "linux-x86_64", lambda _: True)


def test_a_model_of_the_configuration_comes_first(registry: Registry) -> None:
    for name in ("mine", "older"):
        assert subject_of(name, CATALOGUE, registry).agent == McpServerSpec("it", "it-acp")
    assert subject_of("parrot-acp", CATALOGUE, registry).agent == ElizaSpec()
    assert isinstance(subject_of("local", CATALOGUE, registry).agent, OpenResponsesSpec)


def test_then_an_agent_of_the_registry(registry: Registry) -> None:
    agent = subject_of("parrot-acp", Catalogue(), registry).agent
    assert isinstance(agent, McpServerSpec)
    assert agent.command == "npx"
    goose = subject_of("goose", Catalogue(), registry)
    assert goose.missing == "It isn't installed: `vscodelm agents install goose` does."


def test_whoever_is_nowhere_is_told_whom_there_is(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match=r"Did you mean mine\? The registry has no agent"):
        subject_of("mina", CATALOGUE, registry)
    nowhere = Registry(tmp_path / "new", "https://example.org")
    with pytest.raises(SubjectError, match=r"no model 'goose' .* never fetched"):
        subject_of("goose", CATALOGUE, nowhere)
    (tmp_path / "registry.json").write_text("{")
    with pytest.raises(SubjectError, match="can't be used"):
        subject_of("goose", CATALOGUE, registry)


def test_a_command_is_called_by_what_it_starts() -> None:
    def name(*command: str) -> str:
        return subject_of_command(command).name

    assert name("it", "--acp", "x y") == "it"
    assert name("/opt/bin/it") == "it"
    assert name("npx", "-y", "@birds/parrot@1.2.3", "--acp") == "parrot@1.2.3"
    assert name("/usr/bin/node", "/opt/agent.js") == "agent.js"
    assert name("npx", "--version") == "npx"
    subject = subject_of_command(("/opt/it", "--acp", "x y"))
    assert subject.agent == McpServerSpec("it", "/opt/it", ("--acp", "x y"))

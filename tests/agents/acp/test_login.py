from __future__ import annotations

from typing import Any

import pytest

from agents.acp.known import known_agent
from agents.acp.login import login_advice, sole_method
from agents.acp.setup import AuthMethod

NOBODY = known_agent(None)
ARGV = ["/opt/my agent", "--acp"]
QWEN = AuthMethod(
    "openai", "Use OpenAI API key", meta={"type": "terminal", "args": ["--auth-type=openai", 3]}
)
COPILOT = AuthMethod(
    "copilot-login",
    "Log in with Copilot CLI",
    meta={"terminal-auth": {"command": "copilot", "args": ["login"], "label": "Copilot Login"}},
)
TERMINAL = AuthMethod("t", "Terminal", "terminal", args=("login",), env={"MODE": "a b"})
AGENT = AuthMethod("chatgpt", "Login with ChatGPT")
KEY = AuthMethod("key", "Use CODEX_API_KEY", "env_var", "Requires setting `CODEX_API_KEY`.")


def advice(*methods: AuthMethod, name: str | None = None) -> str:
    return login_advice(ARGV, methods, known_agent(name))


def test_the_protocols_login_in_a_terminal_is_the_agents_command_and_more() -> None:
    assert advice(TERMINAL) == (
        "Run `MODE='a b' '/opt/my agent' --acp login` in a terminal, then ask again."
    )


@pytest.mark.checklist(15)
def test_the_two_older_ways_of_telling_a_command_are_known() -> None:
    assert "`'/opt/my agent' --acp --auth-type=openai`" in advice(QWEN)
    assert "`copilot login`" in advice(COPILOT)


@pytest.mark.parametrize(
    "meta", [{}, {"terminal-auth": 3}, {"terminal-auth": {"args": []}}, {"type": 7}]
)
def test_other_things_beside_a_method_are_no_command(meta: dict[str, Any]) -> None:
    method = AuthMethod("a", "Way in", meta=meta)
    assert "It offers: Way in." in advice(method)
    assert sole_method([method], NOBODY) is method


def test_a_command_without_arguments_is_one() -> None:
    method = AuthMethod("a", "b", meta={"terminal-auth": {"command": "login-me"}})
    assert "`login-me`" in advice(method)


def test_several_commands_are_a_choice() -> None:
    assert "`copilot login` or `MODE=" in advice(COPILOT, TERMINAL)


def test_a_known_agents_command_is_the_one_to_type() -> None:
    assert advice(AGENT, name="OpenCode").startswith("Run `opencode auth login` in a terminal")


def test_methods_without_a_command_are_listed() -> None:
    assert advice(AGENT, KEY) == (
        "Log in with its own command line, then ask again. It offers: Login with ChatGPT; "
        "Use CODEX_API_KEY (Requires setting `CODEX_API_KEY`)."
    )
    assert "It offers: nameless." in advice(AuthMethod("nameless", "\x1b[0m"))


@pytest.mark.checklist(16)
def test_an_agent_that_offers_nothing_is_left_to_the_user() -> None:
    assert advice() == "Log in with its own command line, then ask again."


def test_only_a_method_without_alternative_is_tried_unasked() -> None:
    assert sole_method([AGENT], NOBODY) is AGENT
    for methods in ([], [AGENT, KEY], [KEY], [TERMINAL], [QWEN], [COPILOT]):
        assert sole_method(methods, NOBODY) is None


@pytest.mark.checklist(15)
def test_a_method_that_does_nothing_is_not_tried() -> None:
    method = AuthMethod("opencode-login", "Login with opencode")
    assert sole_method([method], known_agent("OpenCode")) is None
    assert sole_method([method], NOBODY) is method

from __future__ import annotations

from typing import Any

import pytest

from agents.acp.login.advice import (
    can_authenticate,
    login_advice,
    login_fixes,
    method_to_try,
    no_logout,
)
from agents.acp.quirks import known_agent
from agents.acp.schema.initialize import AuthMethod, AuthVariable
from bridge.fixes import Fix, LogIn, RunCommand, SetKey
from bridge.wire import EnvVariable, McpServerSpec

NOBODY = known_agent(None)
MINE = McpServerSpec("mine", "/opt/my agent", ("--acp",))
OPENCODE = McpServerSpec("o", "npx", ("-y", "opencode-ai@1.18.33", "acp"))
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
VARIABLES = AuthMethod("key", "Key", "env_var", vars=(AuthVariable("CODEX_API_KEY"),))
OTHER = AuthMethod(
    "o", "O", "env_var", vars=(AuthVariable("A"), AuthVariable("B"), AuthVariable("C", True))
)
GATEWAY = AuthMethod("gateway", "AI API Gateway", meta={"gateway": {"protocol": "google"}})


def advice(*methods: AuthMethod, name: str | None = None) -> str:
    return login_advice(MINE, methods, known_agent(name))


def fixes(
    *methods: AuthMethod, name: str | None = None, spec: McpServerSpec = MINE
) -> tuple[Fix, ...]:
    return login_fixes(spec, methods, known_agent(name))


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
    assert method_to_try([method], NOBODY, {}) is method


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
    assert method_to_try([AGENT], NOBODY, {}) is AGENT
    for methods in ([], [AGENT, KEY], [KEY], [TERMINAL], [QWEN], [COPILOT], [GATEWAY]):
        assert method_to_try(methods, NOBODY, {}) is None


@pytest.mark.checklist(15)
def test_a_method_that_does_nothing_is_not_tried() -> None:
    method = AuthMethod("opencode-login", "Login with opencode")
    assert method_to_try([method], known_agent("OpenCode"), {}) is None
    assert method_to_try([method], NOBODY, {}) is method


def test_a_method_whose_keys_are_there_is_tried_among_others() -> None:
    methods = [AGENT, VARIABLES, OTHER]
    assert method_to_try(methods, NOBODY, {"CODEX_API_KEY": "k"}) is VARIABLES
    assert method_to_try(methods, NOBODY, {"CODEX_API_KEY": ""}) is None
    assert method_to_try(methods, NOBODY, {"CODEX_API_KEY": "k", "A": "1"}) is VARIABLES
    both = {"CODEX_API_KEY": "k", "A": "1", "B": "2"}
    assert method_to_try(methods, NOBODY, both) is None
    gemini = [AGENT, AuthMethod("gemini-api-key", "Gemini API key")]
    assert method_to_try(gemini, known_agent("gemini-cli"), {"GEMINI_API_KEY": "k"}) is gemini[1]
    assert method_to_try(gemini, known_agent("gemini-cli"), {}) is None


def test_the_variables_of_keys_are_named() -> None:
    assert advice(TERMINAL, VARIABLES).endswith(
        "then ask again. Or set `CODEX_API_KEY` in its environment."
    )
    assert advice(AGENT, VARIABLES) == (
        "Set `CODEX_API_KEY` in its environment, then ask again. It also offers: "
        "Login with ChatGPT."
    )
    assert advice(OTHER) == "Set `A` or `B` in its environment, then ask again."


# What can be pressed.


@pytest.mark.parametrize("name", ["", "A B", "A`\n# B", "KEY\u202e", "A,B", "K" * 201, "Schlüssel"])
def test_what_can_be_no_variable_is_none(name: str) -> None:
    """It would be shown on a button, and a key would be kept under it."""
    method = AuthMethod("m", "Key", "env_var", vars=(AuthVariable("A_1"), AuthVariable(name)))
    assert fixes(method) == ()
    assert advice(method) == "Log in with its own command line, then ask again. It offers: Key."


def test_each_kind_of_method_is_a_fix_of_its_own() -> None:
    assert fixes(AGENT, VARIABLES, TERMINAL, OTHER, GATEWAY) == (
        RunCommand("Log In: Terminal", "/opt/my agent", ("--acp", "login"), {"MODE": "a b"}),
        LogIn("Login with ChatGPT", "chatgpt"),
        SetKey("Set CODEX_API_KEY...", ("CODEX_API_KEY",)),
        SetKey("Set A and B...", ("A", "B")),
    )


def test_the_older_ways_of_telling_a_command_are_the_same_fix() -> None:
    meta = {"terminal-auth": {"command": "c", "args": ["login"], "env": {"X": "1", "Y": 2}}}
    assert fixes(AuthMethod("t", "Log in", "terminal", meta=meta), QWEN) == (
        RunCommand("Log in", "c", ("login",), {"X": "1"}),
        RunCommand("Log In: Use OpenAI API key", "/opt/my agent", ("--acp", "--auth-type=openai")),
    )
    odd = {"terminal-auth": {"command": "c", "env": 3}}
    assert fixes(AuthMethod("t", "Log in", meta=odd)) == (RunCommand("Log in", "c"),)


def test_a_known_agent_logs_in_by_the_launcher_that_starts_it() -> None:
    (fix,) = fixes(AuthMethod("opencode-login", "Login"), name="OpenCode", spec=OPENCODE)
    words = ("-y", "opencode-ai@1.18.33", "auth", "login")
    assert fix == RunCommand("Log In in a Terminal", "npx", words)
    (elsewhere,) = fixes(name="OpenCode")
    assert elsewhere == RunCommand("Log In in a Terminal", "opencode", ("auth", "login"))


def test_an_agent_whose_own_login_may_fail_unseen_logs_in_in_a_terminal() -> None:
    own = AuthMethod("oauth", "OAuth with OpenHands Cloud", meta={"type": "agent"})
    started = McpServerSpec("x", "/opt/openhands", ("acp",))
    fix, _ = fixes(own, name="OpenHands CLI ACP Agent", spec=started)
    assert fix == RunCommand("Log In in a Terminal", "/opt/openhands", ("login",))
    failure = no_logout(started, known_agent("OpenHands CLI ACP Agent"))
    assert failure.fixes == (RunCommand("Log Out in a Terminal", "/opt/openhands", ("logout",)),)


def test_a_login_has_the_definitions_environment_and_folder_but_no_secret() -> None:
    env = (EnvVariable("HOME", "/else"), EnvVariable("KEY", "${secret:KEY}"))
    spec = McpServerSpec("x", "x", (), env, "/there")
    (fix,) = fixes(TERMINAL, spec=spec)
    assert fix == RunCommand(
        "Log In: Terminal", "x", ("login",), {"HOME": "/else", "MODE": "a b"}, "/there"
    )


def test_a_known_agent_is_logged_out_by_the_launcher_that_starts_it() -> None:
    failure = no_logout(OPENCODE, known_agent("OpenCode"))
    assert "`npx -y opencode-ai@1.18.33 auth logout`" in failure.message
    words = ("-y", "opencode-ai@1.18.33", "auth", "logout")
    assert failure.fixes == (RunCommand("Log Out in a Terminal", "npx", words),)
    assert no_logout(MINE, NOBODY).fixes == ()


def test_an_agent_is_asked_to_log_in_by_what_is_no_terminals() -> None:
    methods = [AGENT, KEY, TERMINAL, QWEN, COPILOT]
    assert [can_authenticate(methods, one.id) for one in methods] == [True, True, *[False] * 3]
    assert not can_authenticate(methods, "unknown")


def test_an_agent_that_offers_nothing_has_no_fix() -> None:
    assert fixes() == ()

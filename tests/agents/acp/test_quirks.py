from __future__ import annotations

import pytest

from agents.acp.quirks import KnownAgent, known_agent, never_asks, started_by


def test_an_agent_that_keeps_tools_by_folder_gets_a_process_for_each_session() -> None:
    assert known_agent("OpenCode").sessions_share_tools
    assert known_agent("Kilo").sessions_share_tools
    assert known_agent("@mistralai/mistral-vibe").sessions_share_tools
    assert not known_agent("codex-acp").sessions_share_tools


def test_an_agent_that_drops_stdio_servers_gets_them_over_http() -> None:
    assert known_agent("Copilot").http_tools_only
    assert not known_agent("OpenCode").http_tools_only


def test_a_fork_logs_in_as_the_agent_that_it_was_made_of() -> None:
    """Its method does nothing by itself, so its own program is started in a terminal."""
    origin, fork = known_agent("OpenCode"), known_agent("Kilo")
    assert (fork.serves, fork.login, fork.logout) == (origin.serves, origin.login, origin.logout)
    assert (fork.program, fork.ignored_methods) == ("kilo", {"kilo-login"})


def test_vibe_asks_in_one_of_its_modes_alone() -> None:
    assert set(known_agent("@mistralai/mistral-vibe").asking_modes.values()) == {"ask"}


def test_an_agent_that_begins_turns_without_its_tools_is_known() -> None:
    assert known_agent("@agentclientprotocol/claude-agent-acp").prompts_without_tools
    assert known_agent("@agentclientprotocol/codex-acp").prompts_without_tools
    assert known_agent("qwen-code").prompts_without_tools
    assert not known_agent("OpenCode").prompts_without_tools


def test_an_agent_whose_titles_no_model_chooses_is_believed_what_they_name() -> None:
    assert known_agent("fast-agent-acp").titles_name_tools
    assert not known_agent("OpenCode").titles_name_tools


def test_an_agent_that_begins_ids_with_names_of_tools_is_known() -> None:
    assert known_agent("gemini-cli").ids_name_tools
    assert not known_agent("qwen-code").ids_name_tools


# As each offers them. Those of Vibe and OpenHands are in their sources, the others were measured.
MODES = {
    "@agentclientprotocol/claude-agent-acp": "auto acceptEdits bypassPermissions default plan",
    "@agentclientprotocol/codex-acp": "agent workspace-write agent-full-access read-only",
    "qwen-code": "auto auto-edit yolo default plan",
    "gemini-cli": "autoEdit yolo default plan",
    "@mistralai/mistral-vibe": "accept-edits smart-approve auto-approve ask",
    "OpenHands CLI ACP Agent": "llm-approve always-approve always-ask",
}


def test_an_option_that_ends_all_questions_is_known_as_well_as_the_modes() -> None:
    asking = known_agent("Copilot").asking
    assert asking["allow_all"] == {"on": "off"}
    assert [mode.rpartition("#")[2] for mode in asking["mode"]] == ["autopilot"]
    assert known_agent("OpenCode").asking == {"mode": {}}


@pytest.mark.parametrize("name", MODES)
def test_from_each_mode_without_questions_one_leads_to_the_mode_that_asks(name: str) -> None:
    modes = known_agent(name).asking_modes
    offered = MODES[name].split()
    asking = [mode for mode in offered if mode not in modes and mode != "plan"]
    assert len(asking) == 1
    assert set(modes.values()) == set(asking)
    assert modes.keys() <= set(offered)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["pi-acp"], True),
        (["code-puppy"], True),
        (["fast-agent-acp"], True),
        (["somebody", "fast-agent"], True),
        (["opencode", "OpenCode"], False),
        ([], False),
    ],
)
def test_who_acts_without_asking_is_known_by_any_of_its_names(
    names: list[str], expected: bool
) -> None:
    assert never_asks(names) is expected


@pytest.mark.parametrize("name", [None, "", "somebody"])
def test_an_unknown_agent_is_nothing_special(name: str | None) -> None:
    assert known_agent(name) == KnownAgent(name or "")


@pytest.mark.parametrize(
    "argv",
    [
        ["claude-agent-acp"],
        ["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.100.0"],
        ["npx", "-y", "@zed-industries/claude-code-acp"],
        ["node", "/opt/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"],
        ["C:\\npm\\claude-agent-acp.cmd"],
    ],
)
def test_claudes_tools_are_made_visible_before_it_can_say_who_it_is(argv: list[str]) -> None:
    assert started_by(argv).environment == {"ENABLE_TOOL_SEARCH": "false"}


@pytest.mark.parametrize("argv", [[], ["codex-acp"], ["opencode", "acp"], ["not-claude-agent"]])
def test_other_agents_get_nothing_into_their_environment(argv: list[str]) -> None:
    assert started_by(argv).environment == {}


def test_the_editor_makes_the_edits_of_the_agents_alone_that_are_tried_so() -> None:
    """`tests/real/test_real_edits.py` tries them."""
    names = (
        "@agentclientprotocol/claude-agent-acp",
        "@agentclientprotocol/codex-acp",
        "OpenCode",
        "Kilo",
        "Copilot",
        "qwen-code",
        "gemini-cli",
        "@mistralai/mistral-vibe",
        "OpenHands CLI ACP Agent",
        "fast-agent-acp",
        "code-puppy",
        "pi-acp",
        "unknown",
    )
    assert {name for name in names if known_agent(name).edits_by_editor} == {
        "@agentclientprotocol/claude-agent-acp",
        "OpenCode",
        "qwen-code",
        "gemini-cli",
    }

from __future__ import annotations

from agents.acp.options import Choices
from agents.acp.quirks import known_agent
from agents.acp.schema.initialize import (
    AgentCapabilities,
    AuthMethod,
    Implementation,
    InitializeResponse,
    McpCapabilities,
    PromptCapabilities,
    SessionCapabilities,
    Supported,
)
from agents.acp.schema.options import (
    ModelInfo,
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionConfigSelectItem,
    SessionMode,
    SessionModelState,
    SessionModeState,
)
from bridge.wire import McpServerSpec
from vscodelm.doctor.words import SHOWN, choices, introduction, name_of, permission

YES = Supported()
EVERYTHING = AgentCapabilities(
    load_session=True,
    prompt_capabilities=PromptCapabilities(image=True, audio=True, embedded_context=True),
    mcp_capabilities=McpCapabilities(http=True, sse=True),
    session_capabilities=SessionCapabilities(YES, YES, YES, YES, YES, YES),
)


def told(about: InitializeResponse, name: str | None = None) -> dict[str, str]:
    return dict(introduction(McpServerSpec("it", "my-agent", ("--acp",)), about, known_agent(name)))


def test_an_agent_is_called_by_its_title_version_and_name() -> None:
    def name(info: Implementation | None) -> str:
        return name_of(InitializeResponse(1, info))

    assert name(Implementation("codex-acp", "0.16", "Codex")) == "Codex 0.16 (codex-acp)"
    assert name(Implementation("Copilot", "1", "Copilot")) == "Copilot 1"
    assert name(Implementation("x", "1")) == "x 1"
    assert name(Implementation("x\x1b[2J\n", "1\u202e")) == "x 1"
    assert name(None) == "an agent without a name"


def test_an_agent_that_says_nothing_can_do_the_least() -> None:
    assert told(InitializeResponse(1)) == {
        "protocol": "version 1",
        "prompts": "text, links; no images and no files",
        "sessions": "only new ones",
        "MCP servers": "stdio",
        "login": "no login methods",
    }


def test_an_agent_that_can_do_everything_says_so() -> None:
    facts = told(InitializeResponse(1, None, EVERYTHING))
    assert facts["prompts"] == "text, links, images, audio, files"
    assert facts["sessions"] == "load, resume, fork, close, list, delete"
    assert facts["MCP servers"] == "stdio, http, sse"


def test_what_is_known_and_not_said_is_told() -> None:
    facts = introduction(McpServerSpec("it", "x"), InitializeResponse(1), known_agent("OpenCode"))
    assert [fact for label, fact in facts if label == "known"] == [
        "its sessions share tools, so each chat has a process of its own",
        "`opencode auth login` logs in",
    ]
    copilot = introduction(
        McpServerSpec("it", "x"), InitializeResponse(1, None, EVERYTHING), known_agent("Copilot")
    )
    assert dict(copilot)["MCP servers"] == "http, sse; it silently drops those on stdio"
    assert ("known", "it accepts tools only over http") in copilot
    bare = introduction(McpServerSpec("it", "x"), InitializeResponse(1), known_agent("Copilot"))
    assert dict(bare)["MCP servers"].startswith("none; ")


def test_ways_to_log_in_are_named_and_a_command_is_told() -> None:
    terminal = AuthMethod("t", "In a terminal", "terminal", args=("login",))
    web = AuthMethod("web", "With a browser")
    both = told(InitializeResponse(1, auth_methods=(web, terminal)))["login"]
    assert both == (
        "With a browser, In a terminal. If it is needed: Run `my-agent --acp login` in a terminal"
    )
    assert told(InitializeResponse(1, auth_methods=(web,)))["login"] == "With a browser"


def test_what_can_be_chosen_is_told_with_what_is_chosen() -> None:
    modes = (SessionMode("code", "Code"), SessionMode("plan", "Plan first"))
    models = tuple(ModelInfo(f"m{n}", f"Model {n}") for n in range(SHOWN + 4))
    offered = Choices(
        (
            SessionConfigSelect(
                "effort",
                "Effort",
                "low",
                (
                    SessionConfigSelectItem("Low", "low"),
                    SessionConfigSelectItem("High", "high"),
                ),
            ),
            SessionConfigBoolean("fast", "Fast", True),
            SessionConfigBoolean("safe", "Safe", False),
        ),
        SessionModeState("plan", modes),
        SessionModelState("m0", models),
    )
    facts = dict(choices(offered))
    assert facts["Effort"] == "low; or high"
    assert (facts["Fast"], facts["Safe"]) == ("on", "off")
    assert facts["mode"] == "Plan first (plan); or code"
    assert facts["model"].startswith("Model 0 (m0); or Model 1 (m1), ")
    assert facts["model"].endswith("Model 12 (m12), 3 more")


def test_what_is_offered_in_two_ways_is_told_once() -> None:
    items = (SessionConfigSelectItem("Plan first", "plan"),)
    options = (
        SessionConfigSelect("mode", "Mode", "plan", items, category="mode"),
        SessionConfigSelect("model", "Model", "x", ()),
    )
    modes = SessionModeState("plan", (SessionMode("plan", "Plan first"),))
    both = Choices(options, modes, SessionModelState("x"))
    assert choices(both) == (("Mode", "Plan first (plan)"), ("Model", "x"))


def test_a_choice_that_is_not_offered_or_the_only_one_is_named() -> None:
    assert dict(choices(Choices(modes=SessionModeState("x")))) == {"mode": "x"}
    only = SessionModeState("x", (SessionMode("x", "The one"),))
    assert dict(choices(Choices(modes=only))) == {"mode": "The one (x)"}
    assert choices(Choices()) == ()


CLAUDE = known_agent("@agentclientprotocol/claude-agent-acp")
MODES = tuple(SessionMode(id_, id_) for id_ in ("auto", "acceptEdits", "default", "plan"))


def asks(current: str, wanted: str | None = None) -> str | None:
    offered = Choices(modes=SessionModeState(current, MODES))
    return dict(permission(offered, CLAUDE, wanted)).get("asks")


def test_the_mode_into_which_an_agent_is_put_is_told() -> None:
    assert asks("auto") == (
        "its default mode is auto, which acts without asking; with `ask` vscodelm selects default"
    )
    assert asks("default") is None
    assert asks("plan") is None
    assert permission(Choices(), CLAUDE, None) == ()


def test_a_mode_of_the_settings_is_said_to_count() -> None:
    unasked = (
        "as the mode auto of your settings, which acts without asking; with `read_only` or `deny` "
        "vscodelm selects default"
    )
    assert asks("default", "auto") == unasked
    assert asks("auto", "auto") == unasked
    assert asks("auto", "Auto") == unasked.replace("auto", "Auto", 1)
    assert asks("auto", "plan") == "as the mode plan of your settings"


def test_an_agent_that_never_asks_is_told() -> None:
    about = InitializeResponse(1)
    facts = introduction(McpServerSpec("it", "x"), about, known_agent("code-puppy"))
    assert ("known", "it acts without asking, also if `permissions` is `ask`") in facts

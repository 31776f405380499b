"""List the quirks of known agents that can't be negotiated.

Everything here was measured (notes of the project, 2026-11). The key is the name that an agent
gives itself in `initialize`. An agent's environment must be complete before the agent can say its
name, so variables are found by words of the command that starts it.

All other surprises are tolerated from every agent (docs/explanation/real-agents.md has the whole
list, and the agents with each):

- Permission requests come after a cancel: each is answered `cancelled` until the prompt returns.
- MCP servers of equal name are mixed up: ours have names unique in the process.
- Sessions share MCP servers: a call that comes to another chat's server is refused, and the agent
  gets a process for each session from then on (`sharing`). For known agents it never comes to that.
- A tool call is updated that was never announced, announced twice, or first named in a permission
  request: the first message about a call begins it.
- The tools' names and the calls' titles differ: calls are recognised where our MCP server gets
  them.
- Options of a permission come in any order: they are chosen by kind.
- A stop reason may be wrong after a cancel, updates may come after it, tools may run on.
- Prompts must not overlap: one at a time, and the next when the last one has returned.
- The end of the input may not end the process: its group is terminated.
- A lost session is reported under four codes: see `errors.is_lost_session`.
- Advertised methods may not work (load, resume): the next one is tried, and at last a replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from bridge.value import Value


class KnownAgent(Value):
    """Facts about an agent.

    `sessions_share_tools`: sessions of one process see each other's MCP servers, so each session
    needs a process. `sessions_start_processes`: each session is a program that the agent starts,
    and ends when the session is closed. `http_tools_only`: MCP servers on stdio are dropped without
    a word. `prompts_without_tools`: a turn begins without the tools of servers that aren't ready
    yet, and no message says so. `titles_name_tools`: no model can choose the title of a call.
    `ids_name_tools`: by its own code the id of a call begins with the name of the tool. `login` are
    the arguments with which its program logs in in a terminal, instead of `serves`, with which it
    speaks ACP; `logout` likewise. `ignored_methods` are ways to log in that do nothing here. `keys`
    are the environment variables that a method to log in is about. `asking_modes` name for each
    mode in which it acts without asking the one in which it asks the user, and `asking_options` do
    so for the values of its options, by their ids. `never_asks`: it has no such mode, and by itself
    it asks before nothing, or before no tool of its own. `packages` are the names by which a
    registry or a launcher has it. `commands` begin words of the commands that start it. The
    definition's variables override `environment`.

    About edits: `edits_by_editor` says that the editor makes them if the settings don't say
    otherwise. `edit_environment`, `edit_arguments` and `edit_meta` switch the agent's own edit
    tools off; `edit_meta` goes with each session. `missing_is_empty`: it creates a file only if a
    missing one reads as an empty one. `writes_itself`: it reports writes that it makes by itself.
    `writes_through_editor`: its own edit tools write through the protocol, if that is offered.
    """

    name: str
    sessions_share_tools: bool = False
    sessions_start_processes: bool = False
    http_tools_only: bool = False
    prompts_without_tools: bool = False
    titles_name_tools: bool = False
    ids_name_tools: bool = False
    program: str = ""
    serves: tuple[str, ...] = ()
    login: tuple[str, ...] = ()
    logout: tuple[str, ...] = ()
    ignored_methods: frozenset[str] = frozenset()
    keys: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, "tuple[str, ...]"])
    commands: tuple[str, ...] = ()
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    asking_modes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    asking_options: dict[str, dict[str, str]] = msgspec.field(
        default_factory=dict[str, "dict[str, str]"]
    )
    never_asks: bool = False
    packages: frozenset[str] = frozenset()
    edits_by_editor: bool = False
    edit_environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    edit_arguments: tuple[str, ...] = ()
    edit_meta: dict[str, Any] | None = None
    missing_is_empty: bool = False
    writes_itself: bool = False
    writes_through_editor: bool = False

    @property
    def asking(self) -> Mapping[str, Mapping[str, str]]:
        """The choices with which it acts without asking, by the keys of the picker."""
        return {"mode": self.asking_modes, **self.asking_options}


_MODES = "https://agentclientprotocol.com/protocol/session-modes#"


_EDITS = (
    "The user's editor makes all changes of files, so that the user can review and undo them. Use "
    "the MCP tools create_file and replace_string_in_file for that, and read a file before you "
    "change it. You have no other tools that edit files. Don't edit files by shell commands."
)
"""Tells a model how to edit whose own tools for that are switched off."""


def _opencode(
    name: str, program: str, environment: dict[str, str], *, edits_by_editor: bool = False
) -> KnownAgent:
    """Return OpenCode or a fork of it, by the name of its program.

    `environment` switches its own tools to edit off.
    """
    return KnownAgent(
        name,
        commands=(program,),
        edits_by_editor=edits_by_editor,
        edit_environment=environment,
        # It reports each edit by a write, advertised or not (anomalyco/opencode#38196).
        writes_itself=True,
        # It keeps MCP servers by working directory, not by session.
        sessions_share_tools=True,
        program=program,
        serves=("acp",),
        login=("auth", "login"),
        logout=("auth", "logout"),
        ignored_methods=frozenset({f"{program}-login"}),
    )


_AGENTS = (
    KnownAgent(
        "@agentclientprotocol/claude-agent-acp",
        # Many MCP tools are hidden behind a search otherwise, since 0.100.
        commands=("claude-agent-acp", "claude-code-acp"),
        environment={"ENABLE_TOOL_SEARCH": "false"},
        edits_by_editor=True,
        edit_meta={
            "claudeCode": {"options": {"disallowedTools": ["Edit", "Write", "NotebookEdit"]}},
            "systemPrompt": {"append": _EDITS},
        },
        # 170 to 230 MB each (0.49 and 0.101).
        sessions_start_processes=True,
        asking_modes={
            "auto": "default",  # its own choice
            "acceptEdits": "default",
            "bypassPermissions": "default",
        },
        prompts_without_tools=True,
    ),
    KnownAgent(
        "@agentclientprotocol/codex-acp",
        prompts_without_tools=True,
        # It asks to open a page outside of any session, where nobody can be asked.
        ignored_methods=frozenset({"chat-gpt-device-code"}),
        asking_modes={
            "agent": "read-only",  # its own choice
            "workspace-write": "read-only",
            "agent-full-access": "read-only",
        },
    ),
    _opencode(
        "OpenCode",
        "opencode",
        {"OPENCODE_PERMISSION": '{"edit":"deny"}'},
        edits_by_editor=True,
    ),
    # Its mode `ask` is one for questions, not one that asks the user.
    _opencode("Kilo", "kilo", {"KILO_CONFIG_CONTENT": '{"permission":{"edit":"deny"}}'}),
    KnownAgent(
        "Copilot",
        # `Rejecting non-http/sse MCP server` stands in its log only.
        http_tools_only=True,
        program="copilot",
        commands=("copilot",),
        edit_arguments=("--excluded-tools", "create,edit"),
        serves=("--acp",),
        login=("login",),
        asking_modes={f"{_MODES}autopilot": f"{_MODES}agent"},
        asking_options={"allow_all": {"on": "off"}},
    ),
    KnownAgent(
        "qwen-code",
        commands=("qwen",),
        edits_by_editor=True,
        writes_through_editor=True,
        # It looks for them in the background, since 0.24.
        prompts_without_tools=True,
        asking_modes={"auto": "default", "auto-edit": "default", "yolo": "default"},
    ),
    KnownAgent(
        "gemini-cli",
        commands=("gemini",),
        edits_by_editor=True,
        writes_through_editor=True,
        # A missing file is an error to it otherwise, also where it would create one.
        missing_is_empty=True,
        # `mcp_server_tool__id`, since 0.61. The title is the command, if the tool is given one.
        ids_name_tools=True,
        keys={"gemini-api-key": ("GEMINI_API_KEY",)},
        asking_modes={"autoEdit": "default", "yolo": "default"},
    ),
    KnownAgent(
        "@mistralai/mistral-vibe",
        # Sessions that are opened at the same time all get the servers of one of them.
        sessions_share_tools=True,
        asking_modes={
            "accept-edits": "ask",  # its own choice
            "smart-approve": "ask",
            "auto-approve": "ask",
        },
    ),
    KnownAgent(
        "OpenHands CLI ACP Agent",
        # Its own method shows its code where nobody sees it, and reports success if it fails.
        program="openhands",
        serves=("acp",),
        login=("login",),
        logout=("logout",),
        asking_modes={"llm-approve": "always-ask", "always-approve": "always-ask"},
    ),
    KnownAgent(
        "fast-agent-acp",
        # The title is the server's name and the tool's; but the kind is guessed by words in them.
        titles_name_tools=True,
        # It asks about the tools of servers, but not about its own.
        never_asks=True,
        packages=frozenset({"fast-agent", "fast-agent-acp", "fast-agent-mcp"}),
    ),
    # It would ask if `yolo_mode` in its own settings were off.
    KnownAgent("code-puppy", never_asks=True, packages=frozenset({"code-puppy"})),
    # Only its extensions ask.
    KnownAgent("pi-acp", never_asks=True, packages=frozenset({"pi-acp"})),
)
_BY_NAME = {agent.name: agent for agent in _AGENTS}


def known_agent(name: str | None) -> KnownAgent:
    """Return what is known of the agent that calls itself so; nothing special, if nothing."""
    return _BY_NAME.get(name or "") or KnownAgent(name or "")


def never_asks(names: Iterable[str]) -> bool:
    """Return whether one of these is a name of an agent that acts without asking."""
    wanted = set(names)
    return any(agent.never_asks and wanted & {agent.name, *agent.packages} for agent in _AGENTS)


def started_by(argv: Sequence[str]) -> KnownAgent:
    """Return what is known of the agent that is started so; nothing special, if nothing.

    It is needed before the agent can say its name.
    """
    words = [part for word in argv for part in word.replace("\\", "/").split("/")]
    for agent in _AGENTS:
        if agent.commands and any(word.startswith(agent.commands) for word in words):
            return agent
    return KnownAgent("")

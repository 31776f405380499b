"""Every method, update and capability of ACP's newest schema, and what vscodelm does with it.

A page of the documentation shows it. `tests/agents/acp/test_advertised.py` compares it with the
code and with the protocol's schema.
"""

from __future__ import annotations

from typing import Literal

from bridge.value import Value

Side = Literal["agent", "client", "protocol", "proxy", ""]
How = Literal["handled", "shown", "ignored"]

REVISION = "`@agentclientprotocol/sdk` 2.4.0, protocol version 1"


class CoverageRow(Value):
    """One name of the schema. `side` is the receiver of a method.

    `serves` are the methods and updates that a capability of ours promises.
    """

    name: str
    how: How
    words: str
    side: Side = ""
    is_stable: bool = True
    serves: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[Side, str]:
        """The receiver and the name: both sides have a method of the same name."""
        return self.side, self.name


def _sent(name: str, words: str, *, is_stable: bool = True) -> CoverageRow:
    return CoverageRow(name, "handled", words, "agent", is_stable)


def _unused(name: str, words: str, *, side: Side = "agent") -> CoverageRow:
    return CoverageRow(name, "ignored", words, side, is_stable=True)


def _draft(name: str, words: str, side: Side = "agent") -> CoverageRow:
    return CoverageRow(name, "ignored", words, side, is_stable=False)


_FILES = "Advertised where the editor makes the agent's edits; else the agent makes them itself."
_NO_TERMINALS = "Agents run commands themselves. The agent gets *Method not found*."
_FORMS = "Advertised if the editor has the capability `elicit`."
_NO_PROVIDERS = "The user configures an agent's providers in the agent."
_NO_ARCHIVE = "vscodelm keeps its own record of chats."
_PROXIES = "vscodelm starts agents without proxies."

METHODS = (
    _sent("initialize", "Sent once, when the process of an agent starts."),
    _sent("authenticate", "Sent when the agent demands a login, by a method of type `agent`."),
    _sent("logout", "*vscodelm: Log Out of Agent...*, if the agent has `auth.logout`."),
    _sent("session/new", "A chat has a session of its own."),
    _sent(
        "session/load",
        "Continues a chat, or a session that `/continue` names: then the replay is shown.",
    ),
    _sent("session/resume", "Preferred to `session/load`: it replays nothing."),
    _sent("session/fork", "A branch of a chat, such as an edited message.", is_stable=False),
    _sent("session/close", "Sent when a chat ends, if the agent has `close`."),
    _sent("session/set_mode", "A choice in the model picker, or `settings.mode`."),
    _sent("session/set_config_option", "A choice in the model picker."),
    _sent("session/prompt", "The user's message."),
    _sent("session/cancel", "The user stops an answer, or edits its message."),
    _sent("session/list", "*vscodelm: Continue an Agent's Session...*, and `/continue` in a chat."),
    _unused("session/delete", "A session stays with the agent, so that a chat can come back."),
    _draft("auth/status", "A prompt that is refused says that a login is needed."),
    _draft("mcp/message", "MCP servers are reached by stdio or HTTP."),
    _draft("providers/list", _NO_PROVIDERS),
    _draft("providers/set", _NO_PROVIDERS),
    _draft("providers/disable", _NO_PROVIDERS),
    _draft("session/archive", _NO_ARCHIVE),
    _draft("session/unarchive", _NO_ARCHIVE),
    _draft("session/status", "The updates of a turn say what the agent does."),
    _draft("session/set_title", "VS Code keeps its own titles."),
    CoverageRow("session/update", "handled", "See the updates below.", "client"),
    CoverageRow(
        "session/request_permission",
        "handled",
        "The user is asked, or a rule or the settings answer.",
        "client",
    ),
    CoverageRow(
        "$/cancel_request",
        "handled",
        "Sent for a request whose answer isn't needed any more. An agent may take back a question.",
        "protocol",
    ),
    CoverageRow(
        "fs/read_text_file", "handled", "The open buffer of the editor, or else the disk.", "client"
    ),
    CoverageRow(
        "fs/write_text_file",
        "handled",
        "A call of the editor's own tool that creates a file or replaces a text in it.",
        "client",
    ),
    _unused("terminal/create", _NO_TERMINALS, side="client"),
    _unused("terminal/output", _NO_TERMINALS, side="client"),
    _unused("terminal/release", _NO_TERMINALS, side="client"),
    _unused("terminal/wait_for_exit", _NO_TERMINALS, side="client"),
    _unused("terminal/kill", _NO_TERMINALS, side="client"),
    CoverageRow(
        "elicitation/create",
        "handled",
        "The user is asked, by `lm/elicit`. Outside of a turn, or if nobody can be asked, the "
        "answer is `decline`.",
        "client",
    ),
    CoverageRow(
        "elicitation/complete",
        "handled",
        "If the user is still asked to open the page, the answer is `accept`.",
        "client",
    ),
    _draft("auth/status_update", "Not advertised.", "client"),
    _draft("mcp/message", "MCP servers are reached by stdio or HTTP.", "client"),
    _draft("proxy/initialize", _PROXIES, "proxy"),
    _draft("proxy/successor", _PROXIES, "proxy"),
)
"""The methods."""

UPDATES = (
    CoverageRow("user_message_chunk", "handled", "Part of a replay, or an echo. It isn't shown."),
    CoverageRow("agent_message_chunk", "shown", "The answer."),
    CoverageRow("agent_thought_chunk", "shown", "A thinking part."),
    CoverageRow("tool_call", "shown", "A line with an icon for its kind, such as 💭 for `think`."),
    CoverageRow("tool_call_update", "shown", "The call's end, its output and its changes."),
    CoverageRow("plan", "shown", "A list of steps, later its changes."),
    CoverageRow(
        "available_commands_update",
        "shown",
        "A line in a chat's first answer, and `lm/stats`.",
    ),
    CoverageRow("current_mode_update", "shown", "A line, if the user didn't choose the mode."),
    CoverageRow(
        "config_option_update", "shown", "A line for each new value, and the model picker."
    ),
    CoverageRow("session_info_update", "handled", "The title is in `lm/stats`."),
    CoverageRow("usage_update", "shown", "The context widget, and `lm/stats`."),
    CoverageRow("notice", "shown", "A quotation with an icon for its severity."),
    CoverageRow("compaction_update", "shown", "A line; the summary is a thinking part."),
    CoverageRow("compaction_summary_chunk", "shown", "A thinking part."),
    CoverageRow("plan_update", "shown", "As `plan`; a file is a link.", is_stable=False),
    CoverageRow("plan_removed", "shown", "A line.", is_stable=False),
    CoverageRow(
        "subagent_update", "shown", "A line for each sub-agent and state.", is_stable=False
    ),
    CoverageRow("session_message", "ignored", "Messages between agents.", is_stable=False),
    CoverageRow("session_message_chunk", "ignored", "Messages between agents.", is_stable=False),
)
"""The kinds of `session/update`."""

_NEVER = "Never advertised, because the form may change. Such updates are shown all the same."

CLIENT_CAPABILITIES = (
    CoverageRow(
        "session.configOptions.boolean",
        "handled",
        "Switches are in the model picker.",
        serves=("config_option_update", "session/set_config_option"),
    ),
    CoverageRow("session.notices", "handled", "See `notice`.", serves=("notice",)),
    CoverageRow(
        "session.compaction",
        "handled",
        "See `compaction_update`.",
        serves=("compaction_update", "compaction_summary_chunk"),
    ),
    CoverageRow(
        "auth.terminal",
        "handled",
        "A login in a terminal is shown with its command.",
        serves=("initialize",),
    ),
    CoverageRow("fs.readTextFile", "handled", _FILES, serves=("fs/read_text_file",)),
    CoverageRow("fs.writeTextFile", "handled", _FILES, serves=("fs/write_text_file",)),
    CoverageRow(
        "terminal",
        "ignored",
        _NO_TERMINALS,
        serves=(
            "terminal/create",
            "terminal/output",
            "terminal/release",
            "terminal/wait_for_exit",
            "terminal/kill",
        ),
    ),
    CoverageRow("elicitation.form", "handled", _FORMS, serves=("elicitation/create",)),
    CoverageRow(
        "elicitation.url",
        "handled",
        _FORMS,
        serves=("elicitation/create", "elicitation/complete"),
    ),
    CoverageRow("plan", "ignored", _NEVER, is_stable=False, serves=("plan_update", "plan_removed")),
    CoverageRow(
        "subagents",
        "ignored",
        f"{_NEVER} It also promises sessions of sub-agents, which vscodelm doesn't show.",
        is_stable=False,
        serves=("subagent_update", "session_message", "session_message_chunk"),
    ),
)
"""Our capabilities in `initialize`. The ones that are "handled" are advertised."""

AGENT_CAPABILITIES = (
    CoverageRow("loadSession", "handled", "`session/load` is sent only then."),
    CoverageRow(
        "promptCapabilities.image", "handled", "Otherwise a note is in the picture's place."
    ),
    CoverageRow("promptCapabilities.audio", "handled", "Otherwise a note is in the sound's place."),
    CoverageRow("promptCapabilities.embeddedContext", "handled", "Otherwise files are text."),
    CoverageRow(
        "mcpCapabilities.http",
        "handled",
        "The user's own HTTP servers are sent only then. The editor's tools come by stdio. Some "
        "agents are known to take HTTP only.",
    ),
    CoverageRow("mcpCapabilities.sse", "handled", "The user's own SSE servers are sent only then."),
    CoverageRow("mcpCapabilities.acp", "ignored", "See `mcp/message`.", is_stable=False),
    CoverageRow("sessionCapabilities.list", "handled", "`session/list` is sent only then."),
    CoverageRow("sessionCapabilities.delete", "ignored", "See `session/delete`."),
    CoverageRow("sessionCapabilities.resume", "handled", "`session/resume` is sent only then."),
    CoverageRow("sessionCapabilities.close", "handled", "`session/close` is sent only then."),
    CoverageRow(
        "sessionCapabilities.additionalDirectories",
        "handled",
        "The other folders of the window are sent only then.",
    ),
    CoverageRow(
        "sessionCapabilities.fork",
        "handled",
        "`session/fork` is sent only then.",
        is_stable=False,
    ),
    CoverageRow(
        "sessionCapabilities.systemPrompt.mode.override",
        "ignored",
        "The editor's system prompt is part of the first message, if the settings want it.",
        is_stable=False,
    ),
    CoverageRow("sessionCapabilities.archive", "ignored", _NO_ARCHIVE, is_stable=False),
    CoverageRow("sessionCapabilities.status", "ignored", "See `session/status`.", is_stable=False),
    CoverageRow(
        "sessionCapabilities.title", "ignored", "See `session/set_title`.", is_stable=False
    ),
    CoverageRow("auth.logout", "handled", "`logout` is sent only then."),
    CoverageRow("auth.status", "ignored", "See `auth/status`.", is_stable=False),
    CoverageRow("providers", "ignored", _NO_PROVIDERS, is_stable=False),
)
"""The agents' capabilities in `initialize`."""

"""The host's tools that repeat abilities which ACP agents have themselves.

An ACP agent reads, edits and searches files, runs commands, plans, remembers and starts sub-agents
with its own tools, and asks before it acts. A second set of such tools makes each request larger
and the model's choice harder. So a host can have them left out (`tools.duplicates`). A tool that
isn't named here is offered: it comes from an extension or an MCP server that the user has
installed, or shows something that only the editor knows, such as its problems and references.
"""

from __future__ import annotations

from bridge.models import AgentChoice
from bridge.wire import McpServerSpec

LOCAL_HARNESS = {
    "files": (
        *("read_file", "list_dir", "view_image", "create_file", "create_directory"),
        *("replace_string_in_file", "multi_replace_string_in_file"),
        *("insert_edit_into_file", "apply_patch"),
    ),
    "search": ("grep_search", "file_search", "github_repo", "github_text_search"),
    "commands": ("run_in_terminal", "send_to_terminal", "get_terminal_output", "kill_terminal"),
    "the web": ("fetch_webpage",),
    "plans and memory": (
        *("manage_todo_list", "memory", "resolve_memory_file_uri", "session_store_sql"),
        "task_complete",
    ),
    "sub-agents": ("runSubagent",),
    "making of workspaces": (
        *("create_new_workspace", "setup_tools_createNewWorkspace", "get_vscode_api"),
        *("install_extension", "run_vscode_command", "vscode_searchExtensions_internal"),
    ),
}
"""By what they do, as VS Code's local harness names them."""

AGENT_HOST = {
    "files": ("view", "edit", "create"),
    "search": ("grep", "glob"),
    "commands": ("bash", "read_bash", "write_bash", "stop_bash", "list_bash"),
    "the web": ("web_fetch",),
    "plans and memory": ("sql",),
    "sub-agents": ("task", "read_agent", "write_agent", "list_agents", "send_message"),
    "sessions of the host": (
        *("list_sessions", "create_session", "delete_session", "get_current_session"),
        "get_session_context",
    ),
}
"""By what they do, as VS Code's Agent Host names them."""

CREATE_FILE = "create_file"
REPLACE_STRING = "replace_string_in_file"
REPLACE_STRINGS = "multi_replace_string_in_file"
EDIT_TOOLS = frozenset({CREATE_FILE, REPLACE_STRING, REPLACE_STRINGS})
"""Tools by which the editor makes an agent's edits. They are offered, unless the agent makes its
edits itself."""
UNASKED_EDIT_TOOLS = EDIT_TOOLS | {"insert_edit_into_file", "apply_patch", "edit_notebook_file"}
"""Tools that change files of the workspace without a question of the editor's."""

DUPLICATES = frozenset(
    name for kinds in (LOCAL_HARNESS, AGENT_HOST) for names in kinds.values() for name in names
)


def has_own_tools(agent: AgentChoice) -> bool:
    """Return whether an agent has such tools itself. The model of an endpoint has none."""
    return isinstance(agent.spec.definition, McpServerSpec)

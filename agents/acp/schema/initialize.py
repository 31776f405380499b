"""Exchange names and capabilities: `initialize`, `authenticate`, and MCP servers to pass on."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from bridge.wire import EnvVariable, Wire

PROTOCOL_VERSION = 1
"""The only version that we support; two agents answer a higher one with a draft."""


class Supported(Wire):
    """`{}`: its presence means yes."""


class Implementation(Wire):
    """Name and version of a peer."""

    name: str
    version: str
    title: str | None = None


# Our capabilities. There is no field for `terminal`: we serve none.


class FileSystemCapabilities(Wire):
    """Whether we read and write files for the agent."""

    read_text_file: bool = False
    write_text_file: bool = False


class SessionConfigOptionsCapabilities(Wire):
    """The kinds of option beside "select"."""

    boolean: Supported | None = None


class ClientSessionCapabilities(Wire):
    """The updates and options beyond the ordinary."""

    config_options: SessionConfigOptionsCapabilities | None = None
    notices: Supported | None = None
    compaction: Supported | None = None


class AuthCapabilities(Wire):
    """`terminal`: we can run the agent's login in a terminal."""

    terminal: bool = False


class ElicitationCapabilities(Wire):
    """The ways to ask the user for input: a form, and a page to open."""

    form: Supported | None = None
    url: Supported | None = None


class ClientCapabilities(Wire):
    """Our capabilities."""

    fs: FileSystemCapabilities | None = None
    session: ClientSessionCapabilities | None = None
    auth: AuthCapabilities | None = None
    elicitation: ElicitationCapabilities | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class InitializeRequest(Wire):
    """Our name and version."""

    protocol_version: int
    client_capabilities: ClientCapabilities | None = None
    client_info: Implementation | None = None


# The agent's capabilities.


class PromptCapabilities(Wire):
    """The content that a prompt may have beside text and resource links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class McpCapabilities(Wire):
    """The MCP servers that the agent can use beside stdio ones."""

    http: bool = False
    sse: bool = False


class SessionCapabilities(Wire):
    """The agent's methods on sessions; `fork` is not stable yet."""

    list: Supported | None = None
    delete: Supported | None = None
    additional_directories: Supported | None = None
    resume: Supported | None = None
    close: Supported | None = None
    fork: Supported | None = None


class AgentAuthCapabilities(Wire):
    """Whether the agent can log the user out."""

    logout: Supported | None = None


class AgentCapabilities(Wire):
    """The agent's capabilities."""

    load_session: bool = False
    prompt_capabilities: PromptCapabilities = PromptCapabilities()
    mcp_capabilities: McpCapabilities = McpCapabilities()
    session_capabilities: SessionCapabilities = SessionCapabilities()
    auth: AgentAuthCapabilities = AgentAuthCapabilities()


class AuthVariable(Wire):
    """An environment variable in which an agent looks for a key, or for something beside it."""

    name: str
    optional: bool = False


class AuthMethod(Wire):
    """A way to log in: AuthMethodTerminal (`type` "terminal"), or AuthMethodAgent (none).

    `args` and `env` are of the first. Earlier agents describe the same in `_meta`. `vars` are of
    the type "env_var", which drafts of the protocol had, and some agents still have.
    """

    id: str
    name: str
    type: str = "agent"
    description: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    vars: tuple[AuthVariable, ...] = ()
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class InitializeResponse(Wire):
    """The agent's response; its `protocol_version` may differ from the one requested."""

    protocol_version: int
    agent_info: Implementation | None = None
    agent_capabilities: AgentCapabilities = AgentCapabilities()
    auth_methods: tuple[AuthMethod, ...] = ()


class AuthenticateRequest(Wire):
    """Log in by a method of the agent's; never one of type "terminal"."""

    method_id: str


class LogoutRequest(Wire):
    """Forget the login; needs `auth.logout`."""


# MCP servers for a session. Their lists are required, so that they are sent when empty, too.


class HttpHeader(Wire):
    """A header of each request."""

    name: str
    value: str


class McpServerStdio(Wire):
    """A server to spawn; `command` is an absolute path."""

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[EnvVariable, ...]


class McpServerHttp(Wire, tag_field="type", tag="http"):
    """A server to call; needs `mcpCapabilities.http`."""

    name: str
    url: str
    headers: tuple[HttpHeader, ...]


class McpServerSse(Wire, tag_field="type", tag="sse"):
    """A server to call by the older transport; needs `mcpCapabilities.sse`."""

    name: str
    url: str
    headers: tuple[HttpHeader, ...]


McpServer: TypeAlias = McpServerStdio | McpServerHttp | McpServerSse

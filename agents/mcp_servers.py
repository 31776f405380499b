"""The user's own MCP servers: which of those that the editor names agents are given. Pure.

Each entry is read by itself, so that a malformed one costs no other. An agent gets those of the
types that it says it can use. Nothing of an entry is ever told but its name and its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath, PureWindowsPath

import msgspec
from msgspec.structs import replace

from agents.mcp.names import is_server_name
from bridge.value import Value
from bridge.wire import UserMcpServer

_OTHER = "-2"
"""Ends a name that one of our own servers could have: ours are known by their names."""


class ReadServers(Value):
    """The servers of a list, and what was wrong with the others."""

    servers: tuple[UserMcpServer, ...]
    complaints: tuple[str, ...]


class ServerTypes(Value):
    """The types of server that an agent can be given."""

    stdio: bool = True
    http: bool = False
    sse: bool = False

    def split(
        self, servers: Iterable[UserMcpServer]
    ) -> tuple[tuple[UserMcpServer, ...], tuple[UserMcpServer, ...]]:
        """Return the servers of these types, and the others."""
        able = {"stdio": self.stdio, "http": self.http, "sse": self.sse}
        servers = tuple(servers)
        taken = tuple(one for one in servers if able[one.type])
        return taken, tuple(one for one in servers if not able[one.type])


def read_servers(entries: Sequence[msgspec.Raw]) -> ReadServers:
    """Return the servers of a list; an entry that can't be used is complained of."""
    found: dict[str, UserMcpServer] = {}
    complaints: list[str] = []
    for number, entry in enumerate(entries):
        try:
            server = _decoder().decode(entry)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            complaints.append(f"{_detail(error)} - at `$.mcpServers[{number}]`")
            continue
        reason = _why_not(server)
        if is_server_name(server.name):
            server = replace(server, name=server.name + _OTHER)
        if not reason and server.name in found:
            reason = "another has the same name"
        if reason:
            complaints.append(f"{server.name or 'a server'}: {reason} - at `$.mcpServers[{number}]`")
        else:
            found[server.name] = server
    return ReadServers(tuple(found.values()), tuple(complaints))


@cache
def _decoder() -> msgspec.json.Decoder[UserMcpServer]:
    """Make the decoder when it is first needed: most windows have no such server."""
    return msgspec.json.Decoder(UserMcpServer)


def _detail(error: Exception) -> str:
    """Return what is wrong without the value that is wrong, which may be a secret."""
    message, found, path = str(error).partition(" - at `$")
    what = "it is malformed" if message.startswith("Invalid") else message
    return f"{what} (`{path.rstrip('`').lstrip('.')}`)" if found else what


def _why_not(server: UserMcpServer) -> str:
    """Return why a server can't be used; nothing if it can."""
    if not server.name:
        return "it has no name"
    if server.type != "stdio":
        is_address = server.url.startswith(("http://", "https://"))
        return "" if is_address else "its url doesn't begin with http:// or https://"
    kinds = (PurePosixPath(server.command), PureWindowsPath(server.command))
    return "" if any(one.is_absolute() for one in kinds) else "its command is no absolute path"

"""The user's MCP servers as a session gets them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from typing import assert_never

from msgspec.structs import replace

from bridge.wire import UserMcpServer

from .initialize import (
    HttpHeader,
    McpCapabilities,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)


def servers_for(
    servers: Iterable[UserMcpServer], able: McpCapabilities, *, http_only: bool = False
) -> tuple[tuple[McpServer, ...], tuple[UserMcpServer, ...]]:
    """Return the servers that an agent takes, and those that it doesn't.

    `http_only` is whether it is known to take no program, whatever the protocol says.
    """
    types = {"stdio": not http_only, "http": able.http or http_only, "sse": able.sse}
    taken: list[McpServer] = []
    left_out: list[UserMcpServer] = []
    for one in servers:
        if types[one.type]:
            taken.append(_to_acp(one))
        else:
            left_out.append(one)
    return tuple(taken), tuple(left_out)


def _to_acp(server: UserMcpServer) -> McpServer:
    headers = tuple(HttpHeader(one.name, one.value) for one in server.headers)
    match server.type:
        case "stdio":
            return McpServerStdio(server.name, server.command, server.args, server.env)
        case "http":
            return McpServerHttp(server.name, server.url, headers)
        case "sse":
            return McpServerSse(server.name, server.url, headers)
        case _:
            assert_never(server.type)


def with_distinct_names(
    servers: Iterable[McpServer], taken: Collection[str]
) -> tuple[McpServer, ...]:
    """Return servers with different names, none of which is in `taken`."""
    used = set(taken)
    named: list[McpServer] = []
    for server in servers:
        name = server.name
        if name in used:
            numbered = (f"{server.name}_{number}" for number in count(2))
            name = next(one for one in numbered if one not in used)
        used.add(name)
        named.append(server if name == server.name else replace(server, name=name))
    return tuple(named)

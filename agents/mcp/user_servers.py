"""Read the user's MCP servers from the wire. Pure.

One that is wrong costs only itself. No message shows anything of an entry but its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from bridge.wire import UserMcpServer

_decode = msgspec.json.Decoder().decode


def read_servers(given: Iterable[msgspec.Raw]) -> tuple[tuple[UserMcpServer, ...], list[str]]:
    """Return the servers, and what is wrong with the others."""
    servers: list[UserMcpServer] = []
    faults: list[str] = []
    for number, raw in enumerate(given):
        try:
            servers.append(msgspec.convert(_decode(bytes(raw)), UserMcpServer))
        except msgspec.ValidationError as error:
            faults.append(f"MCP server {_name_of(raw, number)} is left out: {error}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            faults.append(f"MCP server {number} is left out: {error}")
    return tuple(servers), faults


def values_of(given: Iterable[msgspec.Raw]) -> list[Any]:
    """Return the entries as JSON values, without those that can't be read."""
    values: list[Any] = []
    for raw in given:
        try:
            values.append(_decode(bytes(raw)))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return values


def _name_of(raw: msgspec.Raw, number: int) -> str:
    match _decode(bytes(raw)):
        case {"name": str(name)} if name:
            return repr(name)
        case _:
            return str(number)

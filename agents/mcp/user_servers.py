"""Read the user's MCP servers from the wire. Pure.

One that is wrong costs only itself. A message says which entry it is, what is wrong, and in which
field. It never shows a value: that may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from bridge.wire import UserMcpServer

_decode = msgspec.json.Decoder().decode
_WITHOUT_VALUES = re.compile(
    r"Expected `[^`]*`, got `[^`]*`|Object missing required field `[^`]*`"
    r"|`name` is empty|a server of the type `[a-z]+` needs an? [^\n]+"
)
"""Matches the complaints that show no value: what msgspec says of types, and our own."""


def read_servers(given: Iterable[msgspec.Raw]) -> tuple[tuple[UserMcpServer, ...], list[str]]:
    """Return the servers, and what is wrong with the others."""
    servers: list[UserMcpServer] = []
    faults: list[str] = []
    for number, raw in enumerate(given):
        try:
            servers.append(msgspec.convert(_decode(bytes(raw)), UserMcpServer))
        except msgspec.ValidationError as error:
            faults.append(f"MCP server {_name_of(raw, number)} is left out: {_complaint(error)}")
        except (msgspec.DecodeError, UnicodeDecodeError):
            faults.append(f"MCP server {number} is left out: it can't be read")
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


def _complaint(error: msgspec.ValidationError) -> str:
    """Return what is wrong and where, without the value."""
    kind, found, place = str(error).rpartition(" - at `$")
    kind = kind if found else str(error)
    shown = kind if _WITHOUT_VALUES.fullmatch(kind) else "the value isn't one of those allowed"
    return shown + found + place if found else shown


def _name_of(raw: msgspec.Raw, number: int) -> str:
    match _decode(bytes(raw)):
        case {"name": str(name)} if name:
            return repr(name)
        case _:
            return str(number)

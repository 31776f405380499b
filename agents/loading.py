"""Loads JSON of peers: all that can be read, and no deeper than we can write. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from bridge.jsonrpc import REFUSED, repair_surrogates
from bridge.wire import ToolSpec

from .nesting import shallow

NOTHING = msgspec.Raw(b"null")
"""The value of a field that a peer left out."""


def load(raw: msgspec.Raw | bytes) -> Any:
    """Return JSON, in which lists and objects that are nested too deeply are empty.

    Bytes that are no UTF-8, and halves of characters, are replaced. None if it isn't JSON.
    """
    try:
        return shallow(msgspec.json.decode(raw))
    except REFUSED:
        text = bytes(raw).decode(errors="replace").encode()
    try:
        return shallow(msgspec.json.decode(repair_surrogates(text)))
    except REFUSED:
        return None


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of an object; what isn't one has none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def writable(value: Any) -> Any:
    """Return JSON that a library has loaded, such that msgspec can write it.

    Values that are nested too deeply are cut, and halves of characters are replaced. The result is
    None for a value that still can't be written, such as a number of 5,000 digits.
    """
    cut = shallow(value)
    try:
        msgspec.json.encode(cut)
    except (ValueError, RecursionError, TypeError):
        pass
    else:
        return cut
    try:
        return load(json.dumps(cut).encode())
    except (ValueError, RecursionError, TypeError):
        return None


def input_schema_of(tool: ToolSpec) -> dict[str, Any] | None:
    """Return the schema of a tool's input; None where the editor sent none that can be read."""
    value = load(tool.input_schema) if isinstance(tool.input_schema, msgspec.Raw) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None

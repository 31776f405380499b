"""A result of one of the editor's tools, as text and data: one reading for every agent. Pure.

VS Code sends a list of parts: text, data (images, JSON, its own records), trees of prompt-tsx.
Other hosts send any JSON. Nothing is shortened: how much an agent keeps is its own affair. Values
are walked without recursion, so a result may be nested as deeply as the wire lets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import msgspec

from bridge.value import Value
from bridge.wire import DataPart

BOOKKEEPING = frozenset(
    {
        "cache_control",
        "context_management",
        "phase_data",
        "stateful_marker",
        "thinking",
        "tool_call_stream",
        "usage",
    }
)
"""Kinds of data that a host keeps for itself: of its requests, or how a call's arguments grew."""
TOO_DEEP = "[a value that is nested too deeply to be written down]"
_TSX_TEXT, _TSX_OPAQUE = 2, 3
"""Kinds of nodes of prompt-tsx."""
Piece: TypeAlias = str | DataPart


def is_bookkeeping(mime: str) -> bool:
    """Return whether data of this type is the host's own; case and parameters don't matter."""
    return mime.partition(";")[0].strip().lower() in BOOKKEEPING


class _Node(Value):
    """A node of prompt-tsx that is still to be read."""

    value: Any


def pieces(result: Any) -> Iterator[Piece]:
    """Yield the texts and the data of a result, in order; results within it are taken apart."""
    todo: list[Any] = [result]
    while todo:
        value = todo.pop()
        inner = _of_node(value.value) if isinstance(value, _Node) else _of_value(value)
        if isinstance(inner, list):
            todo += reversed(inner)
        elif inner is not None:
            yield inner


def _of_value(value: Any) -> Piece | list[Any] | None:
    """Return a piece, or values to read in its place."""
    match value:
        case None | {"type": "thinking"}:
            return None
        case str():
            return value
        case list():
            return cast("list[Any]", value)
        case {"mimeType": str(mime), "data": str(encoded)}:
            return _data(mime, encoded)
        case {"type": "tool_result", "result": inner} | {"type": "tool_result", "content": inner}:
            return [inner]
        case {"value": str(text)} | {"type": "text", "text": str(text)}:
            return text
        case {"value": {"node": dict()} as tree} | ({"node": dict()} as tree):
            return [_Node(cast("dict[str, Any]", tree)["node"])]
        case {"content": [*parts]} if cast("dict[str, Any]", value).keys() <= {
            "content",
            "isError",
        }:
            return parts
        case {"value": inner} if cast("dict[str, Any]", value).keys() <= {"type", "value"}:
            return [inner]
        case _:
            return json_text(value)


def _of_node(node: Any) -> Piece | list[Any] | None:
    """Return the text of a node of prompt-tsx, the image that it may be, or its children."""
    match node:
        case {"type": type_, "text": str(text)} if type_ == _TSX_TEXT:
            return f"\n{text}" if cast("dict[str, Any]", node).get("lineBreakBefore") else text
        case {"type": type_, "value": value} if type_ == _TSX_OPAQUE:
            return [value]
        case {"props": {"src": str(source)}}:
            return _image(source)
        case {"children": [*children]}:
            return [_Node(child) for child in children]
        case _:
            return None


def _image(source: str) -> Piece | None:
    """Return an image, or where it is."""
    head, mark, encoded = source.partition(";base64,")
    if mark and head.startswith("data:"):
        return _data(head.removeprefix("data:"), encoded)
    return f"[image: {source}]"


def _data(mime: str, encoded: str) -> Piece | None:
    if is_bookkeeping(mime):
        return None
    try:
        return DataPart(mime, msgspec.convert(encoded, bytes))
    except msgspec.ValidationError:
        return encoded


def json_text(value: Any) -> str:
    """Return a value as JSON, and of one that is nested too deeply a word."""
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError:
        return TOO_DEEP

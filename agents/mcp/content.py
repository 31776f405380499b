"""A tool's result, as the content of an MCP answer. Pure.

VS Code sends a list of parts: text, data (images, JSON, its own records), elements of prompt-tsx.
Other hosts send any JSON. Nothing is shortened: how much an agent keeps is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import msgspec

from .catalogue import JSON

EMPTY = "(empty)"
"""The host's own word for a result without content; an empty one is refused by some models."""
_PRIVATE = frozenset(
    {"cache_control", "context_management", "phase_data", "stateful_marker", "usage"}
)
"""Kinds of data that the host keeps for itself."""
_TSX_TEXT, _TSX_OPAQUE = 2, 3
"""Kinds of nodes of prompt-tsx."""
_Piece: TypeAlias = str | JSON
"""A text, which joins its neighbours, or a block of MCP's."""


def content(result: Any) -> list[JSON]:
    """Return a result's blocks; there is always one."""
    blocks: list[JSON] = []
    texts: list[str] = []
    for piece in (*_pieces(result), None):
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if any(texts):
            blocks.append({"type": "text", "text": "".join(texts)})
        texts.clear()
        if piece is not None:
            blocks.append(piece)
    return blocks or [{"type": "text", "text": EMPTY}]


def _pieces(result: Any) -> Iterator[_Piece]:
    match result:
        case None:
            return
        case str():
            yield result
        case list():
            for part in cast("list[Any]", result):
                yield from _pieces(part)
        case {"type": "thinking"}:
            return
        case {"mimeType": str(mime), "data": str(encoded)}:
            yield from _data(mime, encoded)
        case {"type": "tool_result", "result": inner}:
            yield from _pieces(inner)
        case {"value": str(text)}:
            yield text
        case {"value": {"node": dict()} as element} | ({"node": dict()} as element):
            yield from _element(cast("JSON", element)["node"])
        case {"content": [*parts]} if cast("JSON", result).keys() <= {"content", "isError"}:
            yield from _pieces(parts)
        case {"value": value} if cast("JSON", result).keys() <= {"type", "value"}:
            yield from _pieces(value)
        case _:
            yield _json(result)


def _data(mime: str, encoded: str) -> Iterator[_Piece]:
    kind, _, subtype = mime.partition(";")[0].strip().lower().partition("/")
    try:
        data = msgspec.convert(encoded, bytes)
    except msgspec.ValidationError:
        yield encoded
        return
    match kind:
        case _ if kind in _PRIVATE:
            return
        case "image" | "audio":
            yield {"type": kind, "mimeType": f"{kind}/{subtype}", "data": encoded}
        case "text":
            yield data.decode(errors="replace")
        case "application" if subtype == "json" or subtype.endswith("+json"):
            yield data.decode(errors="replace")
        case _:
            uri = "vscodelm:result"
            resource = {"uri": uri, "mimeType": mime, "blob": encoded}
            yield {"type": "resource", "resource": resource}


def _element(node: Any) -> Iterator[_Piece]:
    """Return the text of an element of prompt-tsx, and the image that one may be."""
    match node:
        case {"type": type_, "text": str(text)} if type_ == _TSX_TEXT:
            yield f"\n{text}" if cast("JSON", node).get("lineBreakBefore") else text
        case {"type": type_, "value": value} if type_ == _TSX_OPAQUE:
            yield from _pieces(value)
        case {"props": {"src": str(source)}}:
            yield from _image(source)
        case {"children": [*children]}:
            for child in children:
                yield from _element(child)
        case _:
            return


def _image(source: str) -> Iterator[_Piece]:
    """Return an image, or where it is."""
    head, mark, encoded = source.partition(";base64,")
    if mark and head.startswith("data:"):
        yield from _data(head.removeprefix("data:"), encoded)
    else:
        yield f"[image: {source}]"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()

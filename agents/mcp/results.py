"""A tool's result, as the content of an MCP answer. Pure."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from agents.tool_result import pieces
from bridge.wire import DataPart

from .tools import JSON

EMPTY = "(empty)"
"""The host's own word for a result without content; an empty one is refused by some models."""


def content(result: Any) -> list[JSON]:
    """Return a result's blocks; there is always one."""
    blocks: list[JSON] = []
    texts: list[str] = []
    for piece in (*map(_block, pieces(result)), None):
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if any(texts):
            blocks.append({"type": "text", "text": "".join(texts)})
        texts.clear()
        if piece is not None:
            blocks.append(piece)
    return blocks or [{"type": "text", "text": EMPTY}]


def _block(piece: str | DataPart) -> str | JSON:
    """Return a text, which joins its neighbours, or a block of MCP's."""
    if isinstance(piece, str):
        return piece
    kind, _, subtype = piece.mime_type.partition(";")[0].strip().lower().partition("/")
    match kind:
        case "image" | "audio":
            mime = f"{kind}/{subtype}"
            return {"type": kind, "mimeType": mime, "data": b64encode(piece.data).decode()}
        case "text":
            return piece.data.decode(errors="replace")
        case "application" if subtype == "json" or subtype.endswith("+json"):
            return piece.data.decode(errors="replace")
        case _:
            blob = b64encode(piece.data).decode()
            resource = {"uri": "vscodelm:result", "mimeType": piece.mime_type, "blob": blob}
            return {"type": "resource", "resource": resource}

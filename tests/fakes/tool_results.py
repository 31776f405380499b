"""Results of the editor's tools as VS Code sends them: parts, and trees of prompt-tsx."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

PNG = b64encode(b"\x89PNG").decode()


def part(value: str) -> dict[str, Any]:
    return {"type": "text", "value": value}


def data(mime: str, data: bytes) -> dict[str, Any]:
    return {"type": "data", "mimeType": mime, "data": b64encode(data).decode()}


def node(*children: Any, **more: Any) -> dict[str, Any]:
    return {"type": 1, "ctor": 2, "children": list(children), **more}


def leaf(value: str, line_break: int = 0) -> dict[str, Any]:
    return {"type": 2, "text": value, "lineBreakBefore": line_break, "priority": 1}

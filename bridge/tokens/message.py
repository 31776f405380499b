"""Estimate the tokens of a message, of a chat's tools or of a text.

The surroundings of the content are counted as the host counts them for its own models. The host
adds `MESSAGE_OVERHEAD` to the count of a message, so the overhead isn't included here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from bridge.depth import is_too_deep
from bridge.history.message import canonical_json
from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from bridge.work import Work, done

from .images import READ_BYTES, estimate_image
from .text import estimate_text, estimating

__all__ = ["estimate_image", "estimate_message", "estimate_text", "estimate_tools"]

ROLE, NAME = 1, 1
"""The role of a message; and its name, beside its words."""
MESSAGE_OVERHEAD = 3
"""The tokens between two messages."""
REPLY_OVERHEAD = 3
"""The beginning of the answer, which every request ends with."""
CALL_OVERHEAD, RESULT_OVERHEAD = 7, 5
"""The frame of a tool call, and of a result: fixed words. With their two messages they are 20."""
TOOLS_OVERHEAD, TOOL_OVERHEAD = 16, 8
"""The frame of all tools together, and of each."""


def estimate_message(message: ChatMessage, family: str = "") -> int:
    """Return the estimated number of tokens of a message; `family` is the model's, for images."""
    return done(estimating_message(message, family))


def estimating_message(message: ChatMessage, family: str = "") -> Work[int]:
    """Do the work of `estimate_message` in steps."""
    tokens = ROLE + (NAME + estimate_text(message.name) if message.name else 0)
    for part in message.content:
        tokens += yield from _part(part, family)
        yield
    return tokens


def estimate_tools(tools: Iterable[ToolSpec]) -> int:
    """Return the estimated number of tokens of the tools' descriptions."""
    total = 0
    for tool in tools:
        shown: dict[str, Any] = {"name": tool.name, "description": tool.description}
        if isinstance(tool.input_schema, msgspec.Raw):
            shown["parameters"] = _schema_in(tool.input_schema)
        total += TOOL_OVERHEAD + _schema(shown)
    return (TOOLS_OVERHEAD + total) * 11 // 10 if total else 0


def _schema_in(raw: msgspec.Raw) -> Any:
    """Return a schema, or its text where it can't be taken apart."""
    try:
        if not is_too_deep(raw):
            return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return bytes(raw).decode(errors="replace")


def _schema(value: Any) -> int:
    """Return the tokens of keys and texts; the rest of a schema is a tenth more, as hosts guess."""
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, list):
        return sum(1 + _schema(item) for item in cast("list[Any]", value) if _counts(item))
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return sum(estimate_text(key) + _schema(item) for key, item in items if _counts(item))
    return 0


def _counts(value: Any) -> bool:
    return bool(value) or isinstance(value, (dict, list))


def _part(part: Part, family: str) -> Work[int]:
    match part:
        case TextPart(value=value):
            return (yield from estimating(value))
        case ThinkingPart(value=value):
            return (yield from estimating(value if isinstance(value, str) else "".join(value)))
        case ToolCallPart(tool_name=name, parameters=parameters):
            return CALL_OVERHEAD + estimate_text(name) + (yield from _json(parameters))
        case ToolResultPart(result=result):
            tokens = RESULT_OVERHEAD
            for item in cast("list[Any]", result) if isinstance(result, list) else [result]:
                tokens += yield from _item(item, family)
                yield
            return tokens
        case DataPart(mime_type=mime, data=data):
            return (yield from _data(mime, data, family))
        case _:
            return 0  # of a kind that isn't sent to agents


def _item(item: Any, family: str) -> Work[int]:
    """Return the tokens of a tool's content: a text, a part as hosts send it, or any JSON."""
    match item:
        case str():
            return (yield from estimating(item))
        case {"type": "data", "mimeType": str(mime), "data": str(data)}:
            head = data[: READ_BYTES // 3 * 4] if mime.startswith("image/") else data
            return (yield from _data(mime, _decoded(head), family))
        case {"value": str(value)}:
            return (yield from estimating(value))
        case _:
            return (yield from _json(item))


def _data(mime: str, data: bytes, family: str) -> Work[int]:
    if mime.startswith("image/"):
        return estimate_image(data, family)
    if mime.startswith("text/") or mime == "application/json":
        return (yield from estimating(data.decode(errors="replace")))
    return 0  # bookkeeping of the host's, which no model reads


def _decoded(data: str) -> bytes:
    """Return the bytes of Base64 in either alphabet, also without padding, as Node reads it."""
    try:
        return base64.b64decode(f"{data.replace('-', '+').replace('_', '/').rstrip('=')}===")
    except ValueError:
        return b""


def _json(value: Any) -> Work[int]:
    return (yield from estimating(canonical_json(value).decode()))

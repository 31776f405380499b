"""Messages of a chat, briefly."""

from __future__ import annotations

from typing import Any

from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

PNG = DataPart("image/png", b"\x89PNG")
PNG_URL = "data:image/png;base64,iVBORw=="


def user(*parts: str | Part) -> ChatMessage:
    return ChatMessage("user", _parts(parts))


def assistant(*parts: str | Part) -> ChatMessage:
    return ChatMessage("assistant", _parts(parts))


def system(*parts: str | Part) -> ChatMessage:
    return ChatMessage("system", _parts(parts))


def call(call_id: str, name: str = "read_file", **parameters: Any) -> ToolCallPart:
    return ToolCallPart(call_id, name, parameters)


def result(call_id: str, value: Any = "done", *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(call_id, value, is_error)


def _parts(parts: tuple[str | Part, ...]) -> tuple[Part, ...]:
    return tuple(TextPart(part) if isinstance(part, str) else part for part in parts)

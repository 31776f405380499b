"""What an editor answers to a call of its tools. Pure."""

from __future__ import annotations

from typing import Any, cast


def result_text(result: Any) -> str:
    """Return the text of a tool result: a string, or the text parts of VS Code's list of parts."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        value = cast("dict[str, Any]", result).get("value")
        return value if isinstance(value, str) else ""
    if isinstance(result, list):
        return "".join(result_text(part) for part in cast("list[Any]", result))
    return ""

"""Read an editor's answers to calls of its tools. Pure."""

from __future__ import annotations

from typing import Any, cast

INTERRUPTED = "The execution of this tool, or a previous tool was interrupted."
"""The whole result of a call that VS Code's Agent Host dropped, because the user stopped."""


def is_interrupted(result: Any) -> bool:
    """Return whether a result says that the user stopped the turn while the call was open."""
    return result_text(result).strip() == INTERRUPTED


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
